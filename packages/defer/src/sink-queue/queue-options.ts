import { optionError } from '../errors.ts';
import { overflows, type Overflow } from '../job/job.ts';
import type { Sink } from '../sink.ts';
import { oneOf, refuseUnknown, positive, positiveInteger, wholeNumber } from '../validate.ts';
import type { Backoff } from './circuit-breaker.ts';

/** A sink, and how jobs are sent to it. */
export interface SinkQueueOptions {
  sink: Sink;
  /** A batch leaves when it is full, or when its first job has waited. */
  batch?: {
    /** @default 500 */
    jobs?: number;
    /** Characters of JSON. @default 1_048_576 */
    bytes?: number;
    /** Milliseconds. Jobs of level `sink` do not wait. @default 5 */
    waitMs?: number;
  };
  /**
   * Batches being sent at the same time.
   * @default 4, or 1 if `ordered` is true
   */
  inFlight?: number;
  /**
   * `true`: jobs reach the sink in the order in which they were deferred, one batch at a time; a failing job blocks
   * those after it. `'key'`: the same among jobs with the same key.
   * @default false
   */
  ordered?: boolean | 'key';
  /** Number and timing of the attempts before a failed job becomes a dead letter. */
  retry?: {
    /** Including the first. @default 10 */
    attempts?: number;
    /** Milliseconds. @default 250 */
    minMs?: number;
    /** Milliseconds. @default 60_000 */
    maxMs?: number;
    /** @default 2 */
    factor?: number;
  };
  /** Pauses while the sink itself is unavailable. Jobs wait; none of them is counted as failed. */
  breaker?: {
    /** Failures in a row until one batch at a time probes. @default 3 */
    failures?: number;
    /** Milliseconds. @default 100 */
    minMs?: number;
    /** Milliseconds. @default 5_000 */
    maxMs?: number;
  };
  /** Maximum number of jobs in a period. @default unlimited */
  rate?: { jobs: number; perMs: number };
  /**
   * Time limit of the sink for one batch, in milliseconds. After it the sink counts as unavailable.
   * @default 30_000
   */
  sendTimeoutMs?: number;
  /**
   * Treatment of a job when `maxPending` or `maxPendingBytes` is reached, or, for one of level `process` or `disk`,
   * the journal is full: `'spill'`, it is kept only in the journal, and refused when that is full too; `'block'`, its
   * response is held until there is room; `'drop-oldest'`, the oldest job of the sink that is not being sent is
   * dropped; `'reject'`, the call throws.
   * @default 'spill' with a journal, otherwise 'reject'
   */
  overflow?: Overflow;
  /** Maximum number of jobs in memory. @default 10_000 */
  maxPending?: number;
  /** Maximum number of characters of JSON in memory. @default 16_777_216 */
  maxPendingBytes?: number;
}

export interface ResolvedQueue {
  readonly name: string;
  readonly sink: Sink;
  readonly batchJobs: number;
  readonly batchBytes: number;
  readonly batchWaitMs: number;
  readonly inFlight: number;
  readonly ordered: boolean | 'key';
  readonly attempts: number;
  readonly retry: Backoff;
  readonly breakerFailures: number;
  readonly breaker: Backoff;
  readonly rate: { readonly jobs: number; readonly perMs: number } | undefined;
  readonly sendTimeoutMs: number;
  readonly overflow: Overflow;
  readonly maxPending: number;
  readonly maxPendingBytes: number;
  readonly maxJobBytes: number;
}

/** @throws {DeferError} ERR_REDLINE_DEFER_OPTION */
export function resolveQueue(
  name: string,
  given: Sink | SinkQueueOptions,
  hasJournal: boolean,
): ResolvedQueue {
  const at = `sinks.${name}`;
  const hasOptions = typeof given === 'object' && given !== null && 'sink' in given;
  const options: SinkQueueOptions = hasOptions ? given : { sink: given };
  const { sink, batch = {}, retry = {}, breaker = {}, rate, ordered = false } = options;
  refuseUnknownIn(at, options);
  requireSink(at, sink);
  requireOneInFlight(at, options);
  const overflow = resolveOverflow(at, options.overflow, hasJournal);
  const jobs = positiveInteger(`${at}.batch.jobs`, batch.jobs ?? 500);
  const bytes = positive(`${at}.batch.bytes`, batch.bytes ?? 1 << 20);
  return {
    name,
    sink,
    batchJobs: Math.min(jobs, sink.maxJobs ?? jobs),
    batchBytes: Math.min(bytes, sink.maxBytes ?? bytes),
    batchWaitMs: wholeNumber(`${at}.batch.waitMs`, batch.waitMs ?? 5),
    inFlight: positiveInteger(`${at}.inFlight`, options.inFlight ?? (ordered === true ? 1 : 4)),
    ordered: oneOf(`${at}.ordered`, ordered, [true, false, 'key'] as const),
    attempts: positiveInteger(`${at}.retry.attempts`, retry.attempts ?? 10),
    retry: {
      minMs: positive(`${at}.retry.minMs`, retry.minMs ?? 250),
      maxMs: positive(`${at}.retry.maxMs`, retry.maxMs ?? 60_000),
      factor: positive(`${at}.retry.factor`, retry.factor ?? 2),
    },
    breakerFailures: positiveInteger(`${at}.breaker.failures`, breaker.failures ?? 3),
    breaker: {
      minMs: positive(`${at}.breaker.minMs`, breaker.minMs ?? 100),
      maxMs: positive(`${at}.breaker.maxMs`, breaker.maxMs ?? 5_000),
      factor: 2,
    },
    rate: rate && {
      jobs: positiveInteger(`${at}.rate.jobs`, rate.jobs),
      perMs: positive(`${at}.rate.perMs`, rate.perMs),
    },
    sendTimeoutMs: positive(`${at}.sendTimeoutMs`, options.sendTimeoutMs ?? 30_000),
    overflow,
    maxPending: positiveInteger(`${at}.maxPending`, options.maxPending ?? 10_000),
    maxPendingBytes: positive(`${at}.maxPendingBytes`, options.maxPendingBytes ?? 16 << 20),
    maxJobBytes: sink.maxJobBytes ?? Infinity,
  };
}

function requireSink(at: string, sink: Sink | undefined): void {
  if (typeof sink?.send === 'function') return;
  throw optionError(
    `The option ${at} must be a sink, or an object with one as its sink; it has no send().`,
  );
}

function requireOneInFlight(at: string, { ordered, inFlight = 1 }: SinkQueueOptions): void {
  if (ordered !== true || inFlight === 1) return;
  throw optionError(`The option ${at}.inFlight must be 1 where ordered is true; got ${inFlight}.`);
}

function refuseUnknownIn(at: string, options: SinkQueueOptions): void {
  const { batch, retry, breaker, rate } = options;
  refuseUnknown<keyof SinkQueueOptions>(at, options, {
    sink: true,
    batch: true,
    inFlight: true,
    ordered: true,
    retry: true,
    breaker: true,
    rate: true,
    sendTimeoutMs: true,
    overflow: true,
    maxPending: true,
    maxPendingBytes: true,
  });
  refuseUnknown(`${at}.batch`, batch, { jobs: true, bytes: true, waitMs: true });
  refuseUnknown(`${at}.retry`, retry, { attempts: true, minMs: true, maxMs: true, factor: true });
  refuseUnknown(`${at}.breaker`, breaker, { failures: true, minMs: true, maxMs: true });
  refuseUnknown(`${at}.rate`, rate, { jobs: true, perMs: true });
}

function resolveOverflow(at: string, given: unknown, hasJournal: boolean): Overflow {
  const overflow = oneOf(`${at}.overflow`, given ?? (hasJournal ? 'spill' : 'reject'), overflows);
  if (overflow !== 'spill' || hasJournal) return overflow;
  throw optionError(`The option ${at}.overflow is 'spill', which needs the option journal.`);
}
