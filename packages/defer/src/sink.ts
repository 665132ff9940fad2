import type { Clock } from './clock.ts';

/** The context that a job carries from the place where it was deferred: only strings, so that it survives a crash. */
export interface DeferContext {
  /** W3C trace context of the request, to be passed on unchanged. */
  readonly traceparent?: string;
  readonly tracestate?: string;
  /** The framework's id of the request. */
  readonly requestId?: string;
  /** The result of `context.capture` of the options. */
  readonly [name: string]: string | undefined;
}

/** One job on its way to a sink. */
export interface Delivery {
  /** Globally unique and the same on every attempt, also after a crash: sinks dedupe by it. `[0-9a-z-]+`. */
  readonly id: string;
  /** The name given to `defineJob`. */
  readonly job: string;
  /**
   * The caller's own key, if one was given. A sink that dedupes takes `key ?? id`; a partitioned one partitions by it.
   */
  readonly key: string | undefined;
  /** The data as JSON text. `'null'` when the job carries none. Never parsed on its way. */
  readonly json: string;
  /** UTF-16 length of `json`, a cheap stand-in for its bytes. */
  readonly length: number;
  /** Wall clock of the `defer()` call, milliseconds since 1970. */
  readonly deferredAtMs: number;
  /** Wall clock of the moment at which it was due, if the call gave one. */
  readonly runAtMs?: number | undefined;
  /** 1 on the first attempt. A sink that was down (`send` threw) does not count as an attempt. */
  readonly attempt: number;
  readonly context: DeferContext | undefined;
  /** The caller's options for this sink: delay, priority, headers… Plain JSON. */
  readonly options: Readonly<Record<string, unknown>> | undefined;
  /** True when this may have been sent before: after a crash, a timeout, or a replay. */
  readonly redelivered: boolean;
  /**
   * Runs `work` in the context of the request that deferred the job: its AsyncLocalStorage stores in the same process,
   * otherwise the stores and trace that `context.restore` of the options creates from `context`.
   */
  run<T>(work: () => T): T;
}

/** The delivery for a function of this process: a closure of `defer.after`, a method with `@AfterResponse`. */
export interface RunDelivery extends Pick<
  Delivery,
  'id' | 'job' | 'key' | 'attempt' | 'deferredAtMs' | 'redelivered'
> {
  /** Aborts when the job's time is up (`sendTimeoutMs`, `after.timeoutMs`), or the app closes. */
  readonly signal: AbortSignal;
}

/** The outcome of one job. `undefined`: the sink has it. Made by `retry()`, `untried()` and `dead()`. */
export type DeliveryResult = undefined | RetryResult | DeadResult;

/** One result for each job of a batch, in order; `undefined` if the sink has all of them. */
export type BatchResults = readonly DeliveryResult[] | undefined;

export interface RetryResult {
  readonly kind: 'retry';
  readonly error: unknown;
  /** Minimum wait in milliseconds; if omitted, the backoff decides. */
  readonly afterMs: number | undefined;
  /** The job was not tried: no attempt is counted. */
  readonly isUntried?: boolean;
}

export interface DeadResult {
  readonly kind: 'dead';
  readonly error: unknown;
}

/** The job failed and may work later: counts as an attempt. */
export function retry(error: unknown, afterMs?: number): RetryResult {
  return { kind: 'retry', error, afterMs };
}

/** The job's turn did not come: it is sent again, and no attempt is counted. */
export function untried(error: unknown, afterMs?: number): RetryResult {
  return { kind: 'retry', error, afterMs, isUntried: true };
}

/** The job can never work (refused, malformed, forbidden): it becomes a dead letter at once. */
export function dead(error: unknown): DeadResult {
  return { kind: 'dead', error };
}

/** False for values not made by `retry()`, `untried()` or `dead()`; a sink in JavaScript may return anything. */
export function isResult(value: unknown): value is DeliveryResult {
  if (value === undefined) return true;
  const kind: unknown = (value as { kind?: unknown } | null)?.kind;
  return kind === 'retry' || kind === 'dead';
}

/** Creates spans for jobs: `openTelemetryContext()` provides it. The methods return the result of `work`. */
export interface JobSpans {
  /**
   * Traces one job, or several at once, run in this process. Called within `delivery.run()`, so that each span has the right
   * parent.
   */
  process<T>(sink: string, deliveries: readonly Delivery[], work: () => T): T;
  /** Traces a batch sent to the server of a sink. `work` resolves, with `failure` if the sink was unavailable. */
  send<T extends { readonly failure?: { readonly error: unknown } | undefined }>(
    sink: string,
    kind: string,
    deliveries: readonly Delivery[],
    work: () => Promise<T>,
  ): Promise<T>;
}

/** Interface of the core, given to a sink when it is opened. */
export interface SinkHost {
  /** The name of the sink in `createDefer({ sinks })`. */
  readonly name: string;
  /**
   * The requested order. `true`: one batch at a time, and a sink must stop at the first job that fails and
   * return `retry()` for those after it. `'key'`: no two jobs of one key are ever in flight, so the sink has nothing to do.
   */
  readonly ordered: boolean | 'key';
  /** Time limit of a batch, or of a job in a sink with `timesJobs`, in milliseconds. */
  readonly sendTimeoutMs: number;
  readonly clock: Clock;
  /** For a sink that runs jobs itself, to create a span for each run. Undefined if spans are not enabled. */
  readonly spans?: JobSpans | undefined;
  /**
   * Call it on the first connection and every reconnection, before the first `send` on it resolves, with the id of the
   * server's lifetime (Redis: `run_id`), and periodically afterwards. If the id changes, the jobs in the journal from the
   * last `replayWindowMs` in which the server was seen are sent again: it may have come back with less than it
   * acknowledged.
   */
  generation(id: string): void;
  /** Reports that the sink lost its server, or has it back: sends stop or start without waiting for a `send` to find out. */
  available(isAvailable: boolean): void;
  /** Logs one line to the app's logger. */
  warn(message: string, error?: unknown): void;
}

/** A destination of jobs. One object for one connection; the core batches, retries, paces and bounds. */
export interface Sink {
  /** The kind of sink, for messages and metrics: `'bullmq'`, `'kafka'`. */
  readonly kind: string;
  /**
   * True if jobs run in this process, within `delivery.run()`: only then is the caller's AsyncLocalStorage kept for
   * them.
   * @default false
   */
  readonly runsHere?: boolean;
  /**
   * True if the sink itself gives each job of a batch `host.sendTimeoutMs`, from its own start. Otherwise the queue
   * gives that to the batch as a whole.
   * @default false
   */
  readonly timesJobs?: boolean;
  /** Maximum number of jobs per `send`. @default that of the queue's options, 500 */
  readonly maxJobs?: number;
  /**
   * Maximum number of bytes (UTF-16 length of `json`, summed) per `send`. @default that of the queue's options, 1 MiB
   */
  readonly maxBytes?: number;
  /** The largest single `json` that the server accepts: a larger one is refused at the call. @default unbounded */
  readonly maxJobBytes?: number;
  /**
   * Checks a job when it is deferred, synchronously: returns a sentence saying why the sink refuses it, e.g. a job
   * without a handler or an unknown option. The caller gets it as a coded error, and nothing is kept.
   */
  refuses?(job: string, options: Readonly<Record<string, unknown>> | undefined): string | undefined;
  /** Connects. Not awaited before the first job is taken, and called once; a rejection is logged and `send` follows anyway. */
  open?(host: SinkHost): Promise<void> | void;
  /**
   * Sends one batch and resolves when the server has it: `undefined` for success, otherwise one result for each job, in
   * order. A rejection means that the sink itself is unavailable: every job of the batch is sent again, no attempt is
   * counted, and the circuit breaker counts it. The signal aborts when `sendTimeoutMs` is up (not with `timesJobs`) or
   * the app closes.
   */
  send(batch: readonly Delivery[], signal: AbortSignal): Promise<BatchResults | void>;
  /** Closes what the sink itself has opened. Nothing is in flight at this point. */
  close?(): Promise<void>;
}

/**
 * Handles one job. If it throws, the job is retried; an error with `retryable: false` makes it a dead letter at once. It
 * has `sendTimeoutMs` from its own start; then the signal aborts, and the job is retried.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- the data is what the job's definition says
export type Handler = (data: any, delivery: Delivery, signal: AbortSignal) => unknown;
