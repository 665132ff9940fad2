import type { Clock } from './clock.ts';

/** What came with a job from the place it was deferred at: strings alone, so that it survives a crash. */
export interface DeferContext {
  /** W3C trace context of the request, to be passed on as it is. */
  readonly traceparent?: string;
  readonly tracestate?: string;
  /** The id the framework gave the request. */
  readonly requestId?: string;
  /** Whatever `context.capture` of the options returned. */
  readonly [name: string]: string | undefined;
}

/** One job on its way to a sink. */
export interface Delivery {
  /** Unique in the world and the same on every attempt, also after a crash: what a sink dedupes by. `[0-9a-z-]+`. */
  readonly id: string;
  /** The name given to `defineJob`. */
  readonly job: string;
  /** The caller's own key, where one was given. A sink that dedupes takes `key ?? id`; a partitioned one partitions by it. */
  readonly key: string | undefined;
  /** The data as JSON text. `'null'` when the job carries none. Never parsed on its way. */
  readonly json: string;
  /** UTF-16 length of `json`, a cheap stand-in for its bytes. */
  readonly length: number;
  /** Wall clock of the `defer()` call, milliseconds since 1970. */
  readonly deferredAtMs: number;
  /** Wall clock of the moment it was to run, where the call gave one. */
  readonly runAtMs?: number | undefined;
  /** 1 on the first try. A sink that was down (`send` threw) does not count as a try. */
  readonly attempt: number;
  readonly context: DeferContext | undefined;
  /** What the caller gave for this sink alone: delay, priority, headers… Plain JSON. */
  readonly options: Readonly<Record<string, unknown>> | undefined;
  /** True when this may have been sent before: after a crash, a timeout, or a replay. */
  readonly redelivered: boolean;
  /**
   * Runs `work` as the request did that deferred the job: its AsyncLocalStorage stores where the process is still
   * the same, otherwise the stores and trace that `context.restore` of the options makes of `context`.
   */
  run<T>(work: () => T): T;
}

/** What a function of this process hears of the job it runs: a closure of `defer.after`, a method with `@AfterResponse`. */
export interface RunDelivery extends Pick<
  Delivery,
  'id' | 'job' | 'key' | 'attempt' | 'deferredAtMs' | 'redelivered'
> {
  /** Aborts when the job's time is over (`sendTimeoutMs`, `after.timeoutMs`), or the app closes. */
  readonly signal: AbortSignal;
}

/** What became of one job. `undefined`: the sink has it. Made by `retry()`, `untried()` and `dead()`. */
export type DeliveryResult = undefined | RetryResult | DeadResult;

export interface RetryResult {
  readonly kind: 'retry';
  readonly error: unknown;
  /** Milliseconds to wait at least; left out, the backoff decides. */
  readonly afterMs: number | undefined;
  /** The job was not even tried: no attempt is counted. */
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

/** The job's turn did not come: it goes again, and no attempt is counted. */
export function untried(error: unknown, afterMs?: number): RetryResult {
  return { kind: 'retry', error, afterMs, isUntried: true };
}

/** The job can never work (refused, malformed, forbidden): it goes to the dead letters at once. */
export function dead(error: unknown): DeadResult {
  return { kind: 'dead', error };
}

/** False for what neither `retry()`, `untried()` nor `dead()` has made; a sink in JavaScript may answer anything. */
export function isResult(value: unknown): value is DeliveryResult {
  if (value === undefined) return true;
  const kind: unknown = (value as { kind?: unknown } | null)?.kind;
  return kind === 'retry' || kind === 'dead';
}

/** Makes spans of what happens to jobs: `openTelemetryContext()` has it. What they return is what `work` returned. */
export interface JobSpans {
  /** One job is run in this process, or several at once: within `delivery.run()`, so that each is the child it should be. */
  process<T>(sink: string, deliveries: readonly Delivery[], work: () => T): T;
  /** A batch goes to the server of a sink. It resolves, with `failure` if the sink was unavailable. */
  send<T extends { readonly failure?: { readonly error: unknown } | undefined }>(
    sink: string,
    kind: string,
    deliveries: readonly Delivery[],
    work: () => Promise<T>,
  ): Promise<T>;
}

/** What the core tells a sink when it opens it, and takes from it. */
export interface SinkHost {
  /** The name the sink has in `createDefer({ sinks })`. */
  readonly name: string;
  /**
   * What order was asked for. `true`: one batch at a time, and a sink must stop at the first job that fails and
   * return `retry()` for those behind it. `'key'`: no two jobs of one key are ever in flight, nothing to do here.
   */
  readonly ordered: boolean | 'key';
  /** How long the lane lets a batch take, or a sink with `timesJobs` a job, in milliseconds. */
  readonly sendTimeoutMs: number;
  readonly clock: Clock;
  /** For a sink that runs jobs itself, to make a span of each run. Undefined where nobody asked for spans. */
  readonly spans?: JobSpans | undefined;
  /**
   * To be called on the first connection and every reconnection, before the first `send` on it resolves, with what
   * identifies the server's life (Redis: `run_id`), and now and then while it lasts. When it changed, what the journal
   * holds of the last `replayWindowMs` in which the server was seen is sent again: it may have come back with less than
   * it acknowledged.
   */
  generation(id: string): void;
  /** The sink lost its server, or has it again: sends stop, or start, without waiting for a `send` to find out. */
  available(isAvailable: boolean): void;
  /** One line for the logger of the app. */
  warn(message: string, error?: unknown): void;
}

/** Where jobs go. One object for one connection; the core batches, retries, paces and bounds. */
export interface Sink {
  /** What kind it is, for messages and metrics: `'bullmq'`, `'kafka'`. */
  readonly kind: string;
  /**
   * True when jobs are run by this process, within `delivery.run()`: only then is the caller's AsyncLocalStorage
   * kept for them.
   * @default false
   */
  readonly runsHere?: boolean;
  /**
   * True when the sink itself gives each job of a batch `host.sendTimeoutMs`, from its own beginning. Else the lane gives
   * that to the batch as a whole.
   * @default false
   */
  readonly timesJobs?: boolean;
  /** The most jobs one `send` takes. @default what the options of the lane say, 500 */
  readonly maxJobs?: number;
  /** The most bytes (UTF-16 length of `json`, summed) one `send` takes. @default what the options of the lane say, 1 MiB */
  readonly maxBytes?: number;
  /** The largest single `json` the server takes: a larger one is refused at the call. @default unbounded */
  readonly maxJobBytes?: number;
  /**
   * Looks at a job when it is deferred, synchronously: returns a sentence why it cannot go here, e.g. a job without
   * handler or an unknown option. The caller gets it as a coded error, and nothing is kept.
   */
  refuses?(job: string, options: Readonly<Record<string, unknown>> | undefined): string | undefined;
  /** Connects. Not awaited before the first job is taken, and called once; a rejection is logged and `send` follows anyway. */
  open?(host: SinkHost): Promise<void> | void;
  /**
   * Sends one batch and resolves when the server has it: `undefined` for success, otherwise one result for each job, in
   * order. A rejection says that the sink itself is unavailable: every job of the batch is tried again, no attempt is
   * counted, and the circuit breaker learns of it. The signal aborts when `sendTimeoutMs` is over (not with `timesJobs`) or the app closes.
   */
  send(
    batch: readonly Delivery[],
    signal: AbortSignal,
  ): Promise<readonly DeliveryResult[] | undefined | void>;
  /** Closes what the sink itself has opened. Nothing is in flight any more. */
  close?(): Promise<void>;
}
