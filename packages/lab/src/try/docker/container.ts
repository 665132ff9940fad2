import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../../errors.ts';
import { startChild } from '../../system/guardian.ts';
import { type ClientOptions, type Finish, lastLine, runClient } from './client.ts';
import type { ContainerEngine } from './engine.ts';

/** Its folder in the container: one that every user of an image can write. */
const folder = '/tmp/redline-try';

/**
 * The first process of the container. It lasts as long as the pipe from here, so that a container whose redline was killed ends by
 * itself. It is a shell that waits for `cat`, instead of `cat` alone, because a shell reaps the processes that lose their parent.
 */
const firstProcess = `mkdir -p ${folder} || exit 1; echo ready; cat >/dev/null; exit 0`;

const removedWithinMs = 30_000;

/** A container that lasts as long as this object, or as this process. */
export class Container implements AsyncDisposable {
  readonly name: string;
  readonly #engine: ContainerEngine;
  readonly #signal: AbortSignal;
  #pipe: Writable | undefined;
  /** Settles when the client that holds the container has ended. */
  #ended: Promise<Finish> | undefined;
  #isReady: Promise<boolean> | undefined;
  readonly #removeNow = (): void => {
    spawnSync(this.#engine.command[0]!, this.#words('rm', '--force', '--volumes', this.name), {
      stdio: 'ignore',
      timeout: removedWithinMs,
    });
  };

  private constructor(engine: ContainerEngine, signal: AbortSignal) {
    this.name = `redline-try-${randomUUID().slice(0, 13)}`;
    this.#engine = engine;
    this.#signal = signal;
  }

  /** @throws {LabError} ERR_REDLINE_DOCKER */
  static async start(
    engine: ContainerEngine,
    image: string,
    { signal, fetching }: { signal: AbortSignal; fetching: () => void },
  ): Promise<Container> {
    const container = new Container(engine, signal);
    try {
      await container.#fetch(image, fetching);
      await container.#begin(image);
      return container;
    } catch (error) {
      await container[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Runs a shell script in its folder; the words are its $1, $2 and so on. */
  async run(
    script: string,
    words: readonly string[] = [],
    options: Partial<Omit<ClientOptions, 'signal'>> = {},
  ): Promise<Finish> {
    const stdin = options.input === undefined ? [] : ['--interactive'];
    const whole = `cd ${folder} && ${script}`;
    return await this.#client(['exec', ...stdin, this.name, 'sh', '-c', whole, 'sh', ...words], {
      ...options,
    });
  }

  /**
   * Runs a script that has to succeed.
   * @param step The step for the message, e.g. `installing redline`.
   * @throws {LabError} ERR_REDLINE_DOCKER
   */
  async require(
    step: string,
    script: string,
    words: readonly string[] = [],
    input?: string | Readable,
  ): Promise<string> {
    const finish = await this.run(script, words, input === undefined ? {} : { input });
    if (finish.code === 0) return finish.stdout;
    throw new LabError(
      'ERR_REDLINE_DOCKER',
      `The container failed at ${step}, with exit code ${finish.code}. ${lastLines(finish)}`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#pipe === undefined) return;
    this.#pipe.end();
    // Until it is ready, the engine may still be creating it: it then ends by the pipe.
    await Promise.race([this.#isReady, sleep(removedWithinMs, undefined, { ref: false })]);
    const command = [...this.#engine.command, 'rm', '--force', '--volumes', this.name];
    const removed = await runClient(command, {
      signal: AbortSignal.timeout(removedWithinMs),
    }).catch(() => undefined);
    const ended = await Promise.race([
      this.#ended!.then(() => true),
      sleep(removedWithinMs, false, { ref: false }),
    ]);
    process.off('exit', this.#removeNow);
    if (removed?.code === 0 || ended) return;
    process.stderr.write(
      `! The container ${this.name} could not be removed; ${command.join(' ')} does it.\n`,
    );
  }

  async #fetch(image: string, fetching: () => void): Promise<void> {
    const known = await this.#client(['image', 'inspect', image]);
    if (known.code === 0) return;
    fetching();
    const pulled = await this.#client(['pull', image]);
    if (pulled.code === 0) return;
    throw new LabError(
      'ERR_REDLINE_DOCKER',
      `The image ${image} is not on this machine and cannot be fetched: ${lastLine(pulled)}.`,
    );
  }

  async #begin(image: string): Promise<void> {
    const [program] = this.#engine.command;
    // Docker Desktop and the others know the name of the machine by themselves.
    const knowsHost = program !== 'docker' || process.platform !== 'linux';
    const words = this.#words(
      'run',
      '--rm',
      '--interactive',
      '--name',
      this.name,
      '--entrypoint',
      'sh',
      ...(knowsHost ? [] : [`--add-host=${this.#engine.host}:host-gateway`]),
      image,
      '-c',
      firstProcess,
    );
    this.#signal.throwIfAborted();
    process.on('exit', this.#removeNow);
    const child = startChild((mark) =>
      spawn(program!, words, {
        cwd: '/',
        env: { ...process.env, ...mark },
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: true,
      }),
    );
    const finish: Finish = { code: 1, stdout: '', stderr: '' };
    child.stdin.on('error', () => {});
    child.stderr.on('data', (chunk: Buffer) => void (finish.stderr += chunk.toString()));
    this.#pipe = child.stdin;
    this.#ended = once(child, 'close').then(
      ([code]) => ({ ...finish, code: Number(code ?? 1) }),
      ({ message }: Error) => ({ ...finish, stderr: message }),
    );
    this.#isReady = Promise.race([
      once(child.stdout, 'data').then(() => true),
      this.#ended.then(() => false),
    ]);
    const isReady = await Promise.race([this.#isReady, aborted(this.#signal)]);
    this.#signal.throwIfAborted();
    if (!isReady) {
      const how = await this.#ended;
      throw new LabError(
        'ERR_REDLINE_DOCKER',
        `No container could be started from ${image}: ${lastLine(how)}. The image needs a shell, Node and npm.`,
      );
    }
  }

  async #client(
    words: readonly string[],
    options: Partial<Omit<ClientOptions, 'signal'>> = {},
  ): Promise<Finish> {
    const command = [...this.#engine.command, ...words];
    const finish = await runClient(command, { ...options, signal: this.#signal });
    return finish ?? { code: 127, stdout: '', stderr: `${command[0]} was not found` };
  }

  #words(...words: readonly string[]): string[] {
    return [...this.#engine.command.slice(1), ...words];
  }
}

async function aborted(signal: AbortSignal): Promise<false> {
  if (!signal.aborted) await once(signal, 'abort');
  return false;
}

const shownLines = 15;

function lastLines({ stdout, stderr }: Finish): string {
  const written = (stderr.trim() === '' ? stdout : stderr).trim();
  if (written === '') return 'It wrote nothing.';
  return `Its last lines:\n  ${written.split('\n').slice(-shownLines).join('\n  ')}`;
}
