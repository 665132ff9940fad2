import type { PendingJob } from './pending-job.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import type { LaneHost } from './lane-host.ts';
import type { ResolvedLane } from './lane-options.ts';
import { sendBatch, type BatchOutcome } from './send-batch.ts';

/** The batches on their way to a sink, and the breaker that says whether it may be sent more. */
export class OnTheirWay {
  readonly breaker: CircuitBreaker;
  readonly #options: ResolvedLane;
  readonly #host: LaneHost;
  readonly #batches = new Set<readonly PendingJob[]>();
  readonly #aborts = new Set<AbortController>();

  constructor(options: ResolvedLane, host: LaneHost) {
    this.#options = options;
    this.#host = host;
    this.breaker = new CircuitBreaker(options.breakerFailures, options.breaker, host.random);
  }

  /** How many batches. */
  get size(): number {
    return this.#batches.size;
  }

  /** Whether one more may be sent beside them. */
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

  /** What became of the batch is known. */
  arrived(batch: readonly PendingJob[]): void {
    this.#batches.delete(batch);
  }

  abort(): void {
    for (const abort of this.#aborts) abort.abort();
  }

  /* What runs here has a span for each job, or none. */
  #sent(batch: readonly PendingJob[], abort: AbortController): Promise<BatchOutcome> {
    const options = this.#options;
    const { spans, clock } = this.#host;
    const send = (): Promise<BatchOutcome> => sendBatch(options, batch, clock, abort);
    if (spans === undefined || options.sink.runsHere === true) return send();
    return spans.send(options.name, options.sink.kind, batch, send);
  }
}
