import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { LabError } from '../errors.ts';
import { endChild, startChild } from '../system/guardian.ts';
import { onServerCore, type Pinning } from '../system/pinning.ts';

/** Starts a probe only if servers have a core that it can share with them. */
export async function startCoreSpeedProbe(pinning: Pinning): Promise<CoreSpeedProbe | undefined> {
  const launcher = onServerCore(pinning);
  return launcher.length > 0 ? CoreSpeedProbe.start(launcher) : undefined;
}

/** A process on the server's core that does a small piece of work on request and reports how long it took. */
export class CoreSpeedProbe implements AsyncDisposable {
  readonly #child: ChildProcess;
  #answer = Promise.withResolvers<unknown>();

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (answer) => this.#answer.resolve(answer));
    const ended = (): void => {
      this.#answer.reject(
        new LabError('ERR_REDLINE_LOAD', `The process that watches the server's core exited.`),
      );
    };
    child.on('error', ended);
    child.on('exit', ended);
  }

  /**
   * @param launcher Command prefix that puts a command on the server's core.
   * @throws {LabError} ERR_REDLINE_LOAD when it does not start
   */
  static async start(launcher: readonly string[]): Promise<CoreSpeedProbe> {
    const program = fileURLToPath(new URL('./core-speed-process.js', import.meta.url));
    const [command, ...args] = [...launcher, process.execPath, program];
    // Detached: Ctrl-C must only reach the runner.
    const child = startChild((mark) =>
      spawn(command!, args, {
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
        detached: true,
        env: { ...process.env, ...mark },
      }),
    );
    const probe = new CoreSpeedProbe(child);
    await probe.#answered();
    return probe;
  }

  /** Returns µs of CPU. */
  async read(): Promise<number> {
    this.#child.send('again');
    return Number(await this.#answered());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endChild(this.#child);
  }

  async #answered(): Promise<unknown> {
    const answer = await this.#answer.promise;
    this.#answer = Promise.withResolvers();
    // If the process ends between two readings, the next reading rejects.
    this.#answer.promise.catch(() => {});
    return answer;
  }
}
