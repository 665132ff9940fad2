import { SharedTimeouts, runHere } from '../delivery/in-process.ts';
import { DeferError } from '../errors.ts';
import type { PendingJob } from '../sink-queue/pending-job.ts';
import type { SinkQueueOptions } from '../sink-queue/queue-options.ts';
import { dead, type Delivery, type DeliveryResult, type Sink, type SinkHost } from '../sink.ts';

/** Runs the closures of `defer.after`: each once, concurrently. */
class Closures implements Sink {
  readonly kind = 'closures';
  readonly runsHere = true;
  readonly timesJobs = true;
  #timeouts!: SharedTimeouts;
  #host!: SinkHost;

  open(host: SinkHost): void {
    this.#host = host;
    const { clock, sendTimeoutMs } = host;
    this.#timeouts = new SharedTimeouts(
      clock,
      sendTimeoutMs,
      () =>
        new DeferError(
          'ERR_REDLINE_DEFER_TIMEOUT',
          `It did not end within ${sendTimeoutMs} ms and is no longer waited for.`,
        ),
    );
  }

  send(batch: readonly Delivery[], closing: AbortSignal): Promise<readonly DeliveryResult[]> {
    closing.addEventListener('abort', () => this.#timeouts.abort(closing.reason), { once: true });
    return Promise.all((batch as readonly PendingJob[]).map((job) => this.#run(job)));
  }

  async #run(job: PendingJob): Promise<DeliveryResult> {
    try {
      const { id, key, attempt, deferredAtMs, redelivered } = job;
      const { signal, inTime } = this.#timeouts.current();
      const delivery = { id, job: job.job, key, attempt, deferredAtMs, redelivered, signal };
      const work = runHere(this.#host, job, inTime, () => job.work!(delivery));
      if (work !== undefined) await work;
      return undefined;
    } catch (error) {
      return dead(error);
    }
  }
}

/**
 * A closure that hangs blocks no other: there are as many parallel batches as closures. `maxPending` bounds them, and
 * the queue never fails a request: closures are promised memory only.
 */
export function closureSink({ timeoutMs, maxPending }: ClosureOptions): SinkQueueOptions {
  return {
    sink: new Closures(),
    batch: { jobs: 100, waitMs: 0 },
    inFlight: maxPending,
    maxPending,
    overflow: 'drop-oldest',
    sendTimeoutMs: timeoutMs,
  };
}

export interface ClosureOptions {
  readonly timeoutMs: number;
  readonly maxPending: number;
}
