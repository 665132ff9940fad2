import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { LabError } from '../errors.ts';
import type { Runtime } from '../runtimes/cache.ts';
import type { Proof } from './proof.ts';
import { startChild } from '../system/guardian.ts';

export type Side = 'before' | 'after';

interface Answer {
  nanos?: number;
  equal?: boolean;
  reason?: string;
}

/** Plain JavaScript of 2017, not built, because it runs on the runtime under test. */
const program = fileURLToPath(new URL('../../prove/contestant.cjs', import.meta.url));

/** One side of a proof, in its own process, on any Node. */
export class Contestant implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #proof: Proof;
  readonly #ended: Promise<Answer>;
  #stderr = '';

  constructor(proof: Proof, side: Side | 'check', runtime: Runtime, signal: AbortSignal) {
    this.#proof = proof;
    // Detached, so that Ctrl-C reaches only the runner.
    this.#child = startChild((mark) =>
      fork(program, [proof.file, side], {
        execPath: runtime.file,
        execArgv: [],
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
        detached: true,
        env: { ...process.env, ...mark },
        signal,
        killSignal: 'SIGKILL',
      }),
    );
    this.#child.on('error', () => {});
    this.#child.stderr!.on('data', (chunk: Buffer) => (this.#stderr += chunk.toString()));
    this.#ended = once(this.#child, 'close').then(
      () => ({}),
      () => ({}),
    );
  }

  /** Checks that both sides give equal results on all inputs. @throws {LabError} ERR_REDLINE_PROOF when not */
  async check(): Promise<void> {
    const { equal, reason } = await this.#answer();
    if (equal === true) return;
    throw new LabError('ERR_REDLINE_PROOF', `${this.#proof.name}: the two sides differ: ${reason}`);
  }

  async warmUp(ms: number): Promise<void> {
    await this.#answer();
    this.#child.send({ warmUpMs: ms });
    await this.#answer();
  }

  /** Returns nanoseconds per call. */
  async block(ms: number): Promise<number> {
    this.#child.send({ blockMs: ms });
    const { nanos, reason } = await this.#answer();
    if (nanos !== undefined) return nanos;
    throw new LabError('ERR_REDLINE_PROOF', `${this.#proof.name} could not be timed: ${reason}`);
  }

  async #answer(): Promise<Answer> {
    const message = once(this.#child, 'message').then(
      ([answer]) => answer as Answer,
      () => ({}),
    );
    const ended = this.#ended.then(() => 'ended' as const);
    const answer = await Promise.race([message, ended]);
    if (answer !== 'ended') return answer;
    const lines = this.#stderr.trim().split('\n');
    const reason = lines.find((line) => /Error/.test(line)) ?? lines.at(-1) ?? '';
    throw new LabError(
      'ERR_REDLINE_PROOF',
      `${this.#proof.name}: its process ended${reason === '' ? '' : `: ${reason}`}.`,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
