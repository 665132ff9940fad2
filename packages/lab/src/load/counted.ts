import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { RequestConfig } from '../config/types.ts';
import { LabError } from '../errors.ts';
import { endChild, startChild } from '../system/guardian.ts';
import type { Endpoint } from './endpoint.ts';

/** An exact number of requests, over connections that are renewed regularly and closed at the end. */
export interface CountedLoad extends Endpoint {
  requests: readonly Required<RequestConfig>[];
  /** Number of requests in all. */
  count: number;
  connections: number;
  /** Requests of earlier loads: the list continues where the last load ended. */
  offset: number;
}

export interface CountedOutcome {
  seconds: number;
  badStatus: number;
  socketErrors: number;
}

/** A process that sends one load after another: starting one takes longer than a short load. */
export class CountedSender implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #signal: AbortSignal;
  readonly #abort: () => void;

  constructor(signal: AbortSignal) {
    // Detached, so Ctrl-C reaches only the runner.
    this.#child = startChild((mark) =>
      fork(fileURLToPath(new URL('./counted-process.js', import.meta.url)), {
        detached: true,
        env: { ...process.env, ...mark },
      }),
    );
    this.#signal = signal;
    this.#abort = () => void this.#child.kill('SIGKILL');
    signal.addEventListener('abort', this.#abort);
  }

  /** @throws {LabError} ERR_REDLINE_LOAD when the process exits before the load is complete */
  async send(load: CountedLoad): Promise<CountedOutcome> {
    this.#signal.throwIfAborted();
    const done = new AbortController();
    const exited = once(this.#child, 'exit', done).then(() => undefined);
    const answered = once(this.#child, 'message', done).then(([it]) => it as CountedOutcome);
    this.#child.send(load);
    const outcome = await Promise.race([answered, exited]);
    done.abort();
    await Promise.allSettled([answered, exited]);
    this.#signal.throwIfAborted();
    if (outcome !== undefined) return outcome;
    throw new LabError('ERR_REDLINE_LOAD', 'The process that sends the load exited.');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#signal.removeEventListener('abort', this.#abort);
    await endChild(this.#child);
  }
}
