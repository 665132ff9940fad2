import { inspect } from 'node:util';
import type { Clock } from '../clock.ts';
import { DeferError } from '../errors.ts';
import { OwnWork } from '../job/async-context.ts';
import type { PendingJob } from './pending-job.ts';
import { isResult, type DeliveryResult, type SinkHost } from '../sink.ts';
import type { ResolvedQueue } from './queue-options.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import type { SinkQueueHost } from './sink-queue-core.ts';

/** Outcome of a batch: a result for each job, the same for all, or a sink that is unavailable. */
export type BatchOutcome =
  | { failure?: undefined; results: readonly DeliveryResult[] | undefined }
  | { failure: { error: unknown } };

/** Sends a batch until `sendTimeoutMs` is up or `abort` aborts, even if the sink ignores its signal. */
export async function sendBatch(
  { name, sink, sendTimeoutMs }: ResolvedQueue,
  batch: readonly PendingJob[],
  clock: Clock,
  abort: AbortController,
): Promise<BatchOutcome> {
  const giveUp = (): void => {
    const sentence = `The sink ${name} did not respond within ${sendTimeoutMs} ms.`;
    abort.abort(new DeferError('ERR_REDLINE_DEFER_TIMEOUT', sentence));
  };
  const timer = sink.timesJobs === true ? undefined : clock.after(sendTimeoutMs, giveUp, true);
  try {
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    // One turn later: a sink that heeds its signal reports itself which of the jobs are done.
    const giveUpOnSink = (): void => void setImmediate(reject, abort.signal.reason);
    abort.signal.addEventListener('abort', giveUpOnSink, { once: true });
    const own = new OwnWork();
    const sent = Promise.resolve(own.run(() => sink.send(batch, abort.signal)));
    sent.then(own.over, own.over);
    const results = await Promise.race([sent, aborted]);
    if (results !== undefined && results.length !== batch.length) {
      throw new Error(`${sink.kind} returned ${results.length} results for ${batch.length} jobs`);
    }
    const strange = results?.find((result) => !isResult(result));
    if (strange !== undefined) {
      throw new Error(
        `${sink.kind} returned ${inspect(strange)} for a job: a result is undefined or made by retry(), untried() or dead()`,
      );
    }
    return { results: results ?? undefined };
  } catch (error) {
    return { failure: { error } };
  } finally {
    timer?.cancel();
  }
}

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

/** Opens the sink of a queue. Reports a failure, which stops nothing. */
export async function openSink(
  { sink, name, ordered, sendTimeoutMs }: ResolvedQueue,
  { logger, clock, spans }: SinkQueueHost,
  reports: Pick<SinkHost, 'generation' | 'available'>,
): Promise<void> {
  const warn: SinkHost['warn'] = (message, error) =>
    logger.warn(`defer, sink ${name}: ${message}`, error);
  try {
    await sink.open?.({ name, spans, ordered, sendTimeoutMs, clock, warn, ...reports });
  } catch (error) {
    warn('could not be opened; retrying.', error);
  }
}
