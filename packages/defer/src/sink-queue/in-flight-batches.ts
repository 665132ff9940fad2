import type { PendingJob } from './pending-job.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import type { SinkQueueHost } from './sink-queue-host.ts';
import type { ResolvedQueue } from './lane-options.ts';
import { sendBatch, type BatchOutcome } from './send-batch.ts';

/** The batches on their way to a sink, and the breaker that decides whether more may be sent. */
export class InFlightBatches {
  readonly breaker: CircuitBreaker;
  readonly #options: ResolvedQueue;
  readonly #host: SinkQueueHost;
  readonly #batches = new Set<readonly PendingJob[]>();
  readonly #aborts = new Set<AbortController>();

  constructor(options: ResolvedQueue, host: SinkQueueHost) {
    this.#options = options;
    this.#host = host;
    this.breaker = new CircuitBreaker(options.breakerFailures, options.breaker, host.random);
  }

  /** Number of batches. */
  get size(): number {
    return this.#batches.size;
  }

  /** True if one more may be sent concurrently. */
  get hasRoom(): boolean {
    return this.#batches.size < this.#options.inFlight;
  }

  get jobs(): PendingJob[] {
    return [...this.#batches].flat();
  }

  has(job: PendingJob): boolean {
    for (const batch of this.#batches) if (batch.includes(job)) return true;
    return false;
  }

  /** The first job of each batch, which is its oldest. */
  *firsts(): Generator<PendingJob | undefined> {
    for (const batch of this.#batches) yield batch[0];
  }

  /** Sends a batch. Its jobs are on their way until `arrived`. */
  async send(batch: readonly PendingJob[]): Promise<BatchOutcome> {
    this.#batches.add(batch);
    this.breaker.began();
    const abort = new AbortController();
    this.#aborts.add(abort);
    const outcome = await this.#sent(batch, abort);
    this.#aborts.delete(abort);
    return outcome;
  }

  /** Called when the outcome of the batch is known. */
  arrived(batch: readonly PendingJob[]): void {
    this.#batches.delete(batch);
  }

  abort(): void {
    for (const abort of this.#aborts) abort.abort();
  }

  /* Work that runs in this process has a span for each job, or none. */
  #sent(batch: readonly PendingJob[], abort: AbortController): Promise<BatchOutcome> {
    const options = this.#options;
    const { spans, clock } = this.#host;
    const send = (): Promise<BatchOutcome> => sendBatch(options, batch, clock, abort);
    if (spans === undefined || options.sink.runsHere === true) return send();
    return spans.send(options.name, options.sink.kind, batch, send);
  }
}
