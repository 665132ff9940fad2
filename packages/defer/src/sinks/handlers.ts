import {
  dead,
  isResult,
  retry,
  untried,
  type BatchResults,
  type Delivery,
  type DeliveryResult,
  type Handler,
  type Sink,
  type SinkHost,
} from '../sink.ts';
import { systemClock } from '../clock.ts';
import {
  HangingKinds,
  MissingHandlers,
  runHere,
  SharedTimeouts,
  type SharedTimeout,
  type Turn,
} from '../delivery/in-process.ts';
import { inOrder } from '../delivery/outcomes.ts';
import { isUnavailable, type Unavailable } from '../delivery/unavailable.ts';
import { DeferError, optionError } from '../errors.ts';
import { isFinal } from '../thrown.ts';
import { refuseUnknown } from '../validate.ts';

export type { Handler };

/** Handles all jobs of one name in a batch. It may return one result for each, made by `retry()` and `dead()`. */
export type BatchHandler = (
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  data: any[],
  deliveries: readonly Delivery[],
  signal: AbortSignal,
) =>
  | Promise<readonly DeliveryResult[] | undefined | void>
  | readonly DeliveryResult[]
  | undefined
  | void;

export interface HandlersOptions {
  /**
   * Maximum number of handlers of a batch that run at a time.
   * @default 16
   */
  concurrency?: number;
}

/** Wait before the retry of a job whose handler lacks a dependency. */
const askAgainMs = 1_000;
const reportEveryMs = 60_000;

const batchHandlers = new WeakSet<object>();

/**
 * Marks a handler that takes all jobs of its name at once: one insert, one HTTP call. It runs outside any request's
 * context.
 */
export function batched(handler: BatchHandler): Handler {
  batchHandlers.add(handler);
  // One type for the whole table: otherwise the parameters of a plain handler would have no type.
  return handler as unknown as Handler;
}

/**
 * Handles jobs with functions of this process, each in the context of the request that deferred it. No server is needed;
 * with a journal, jobs left by an exited process are handled by the next one.
 *
 * @example
 * ```ts
 * const sink = handlers({
 *   'send-mail': (data: { to: string }) => mailer.send(data.to),
 *   'log': batched((lines) => logApi.post(lines)),
 * });
 * ```
 */
export function handlers(
  table: Readonly<Record<string, Handler>>,
  options: HandlersOptions = {},
): Sink {
  refuseUnknown<keyof HandlersOptions>('handlers', options, { concurrency: true });
  const { concurrency = 16 } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw optionError(`concurrency is ${String(concurrency)}: it must be a whole number above 0.`);
  }
  return new HandlersSink(table, concurrency);
}

class HandlersSink implements Sink {
  readonly kind = 'handlers';
  readonly runsHere = true;
  readonly timesJobs = true;
  readonly #table: ReadonlyMap<string, Handler>;
  readonly #concurrency: number;
  #ordered = false;
  #host: Pick<SinkHost, 'name' | 'spans' | 'warn'> = { name: 'handlers', warn: () => {} };
  #timeouts = new SharedTimeouts(systemClock, 30_000, () => tooLong(30_000));
  #clock = systemClock;
  #hangingKinds = new HangingKinds(systemClock);
  #missing = new MissingHandlers(systemClock, (message) => this.#host.warn(message));
  #reportOutageAtMs = 0;
  #reportHangingAtMs = 0;

  constructor(table: Readonly<Record<string, Handler>>, concurrency: number) {
    for (const [job, handler] of Object.entries(table)) {
      if (typeof handler === 'function') continue;
      throw optionError(`The handler of "${job}" is ${typeof handler}: it must be a function.`);
    }
    this.#table = new Map(Object.entries(table));
    this.#concurrency = concurrency;
  }

  open(host: SinkHost): void {
    this.#host = host;
    const { ordered, clock, sendTimeoutMs } = host;
    this.#ordered = ordered === true;
    this.#clock = clock;
    this.#hangingKinds = new HangingKinds(clock);
    this.#missing = new MissingHandlers(clock, (message) => this.#host.warn(message));
    this.#timeouts = new SharedTimeouts(clock, sendTimeoutMs, () => tooLong(sendTimeoutMs));
  }

  refuses(job: string): string | undefined {
    if (this.#table.has(job)) return undefined;
    return `no handler for "${job}", only for ${[...this.#table.keys()].join(', ') || 'none'}`;
  }

  async send(batch: readonly Delivery[], signal: AbortSignal): Promise<BatchResults> {
    signal.addEventListener('abort', () => this.#timeouts.abort(signal.reason), { once: true });
    if (this.#ordered) return inOrder(batch, (delivery) => this.#attempt(delivery, signal));
    const results: DeliveryResult[] = Array.from({ length: batch.length });
    const singles: number[] = [];
    const groups = new Map<BatchHandler, number[]>();
    for (const [index, { job }] of batch.entries()) {
      const handler = this.#table.get(job);
      if (handler === undefined || !batchHandlers.has(handler)) singles.push(index);
      else if (groups.has(handler as unknown as BatchHandler))
        groups.get(handler as unknown as BatchHandler)!.push(index);
      else groups.set(handler as unknown as BatchHandler, [index]);
    }
    let next = 0;
    const runNext = async (): Promise<void> => {
      for (let index = singles[next++]; index !== undefined; index = singles[next++]) {
        results[index] = await this.#attempt(batch[index]!, signal);
      }
    };
    const runners = Math.min(this.#concurrency, singles.length);
    await Promise.all([
      ...Array.from({ length: runners }, runNext),
      ...[...groups].map(async ([handler, indexes]) => {
        const own = indexes.map((index) => batch[index]!);
        const outcome = await this.#attemptTogether(handler, own);
        for (const [place, index] of indexes.entries()) results[index] = outcome[place];
      }),
    ]);
    return results.some((result) => result !== undefined) ? results : undefined;
  }

  async #attempt(delivery: Delivery, closing: AbortSignal): Promise<DeliveryResult> {
    const handler = this.#table.get(delivery.job);
    if (handler === undefined) {
      return this.#missing.verdict(delivery.job, this.refuses(delivery.job)!);
    }
    if (closing.aborted) return untried(closing.reason);
    if (batchHandlers.has(handler)) {
      return (await this.#attemptTogether(handler as unknown as BatchHandler, [delivery]))[0];
    }
    const { job } = delivery;
    const turn = this.#turn(job);
    if (typeof turn === 'number') return untried(hangs(job), turn);
    const { signal, inTime } = this.#timeouts.current();
    try {
      const work = runHere(this.#host, delivery, inTime, () =>
        handler(JSON.parse(delivery.json), delivery, signal),
      );
      if (work !== undefined) await work;
      return undefined;
    } catch (error) {
      if (!isUnavailable(error)) return verdict(error);
      this.#reportOutage(delivery, error);
      return untried(error, askAgainMs);
    } finally {
      this.#ended(job, turn, !signal.aborted);
    }
  }

  async #attemptTogether(
    handler: BatchHandler,
    deliveries: readonly Delivery[],
  ): Promise<readonly DeliveryResult[]> {
    const { job } = deliveries[0]!;
    const turn = this.#turn(job);
    if (typeof turn === 'number') return deliveries.map(() => untried(hangs(job), turn));
    const timeout = this.#timeouts.current();
    try {
      return await attemptTogether(handler, deliveries, timeout, this.#host);
    } finally {
      this.#ended(job, turn, !timeout.signal.aborted);
    }
  }

  /* If order counts, the others wait for the first one in any case. */
  #turn(job: string): Turn | number {
    return this.#ordered ? 'with others' : this.#hangingKinds.turn(job);
  }

  #ended(job: string, turn: Turn, inTime: boolean): void {
    const isNews = this.#hangingKinds.ended(job, turn, inTime);
    const now = this.#clock.now();
    if (inTime || !isNews || this.#ordered || now < this.#reportHangingAtMs) return;
    this.#reportHangingAtMs = now + reportEveryMs;
    this.#host.warn(
      `the handler of "${job}" did not end in time (sendTimeoutMs); until it does again, its jobs are tried one at a time.`,
    );
  }

  #reportOutage({ job }: Delivery, error: Unavailable): void {
    const now = this.#clock.now();
    if (now < this.#reportOutageAtMs) return;
    this.#reportOutageAtMs = now + reportEveryMs;
    this.#host.warn(
      `a dependency of the handler of "${job}" is unavailable; its jobs wait.`,
      error,
    );
  }
}

async function attemptTogether(
  handler: BatchHandler,
  deliveries: readonly Delivery[],
  { signal, inTime }: SharedTimeout,
  { name, spans }: Pick<SinkHost, 'name' | 'spans'>,
): Promise<readonly DeliveryResult[]> {
  try {
    // Each of them begins: if the process ends now, one of these is to blame.
    for (const delivery of deliveries) delivery.run(() => {});
    const data = deliveries.map(({ json }): unknown => JSON.parse(json));
    const run = (): Promise<unknown> =>
      inTime.race(Promise.resolve().then(() => handler(data, deliveries, signal)));
    const results = await (spans === undefined ? run() : spans.process(name, deliveries, run));
    // The results of a `Promise.all` of inserts are not verdicts: a handler that does not throw has done its jobs.
    const says = Array.isArray(results) && (results.some(isVerdict) || results.every(isUndefined));
    if (!says || results.length === 0) return [];
    if (results.length === deliveries.length) {
      return results.map((result) => (isVerdict(result) ? result : undefined));
    }
    throw new TypeError(
      `A batched handler returned ${results.length} results for ${deliveries.length} jobs.`,
    );
  } catch (error) {
    return deliveries.map(() => verdict(error));
  }
}

function hangs(job: string): DeferError {
  return new DeferError(
    'ERR_REDLINE_DEFER_TIMEOUT',
    `The handler of "${job}" does not end in time; its jobs are tried one at a time.`,
  );
}

function tooLong(sendTimeoutMs: number): DeferError {
  return new DeferError(
    'ERR_REDLINE_DEFER_TIMEOUT',
    `The handler did not end within ${sendTimeoutMs} ms.`,
  );
}

function isVerdict(result: unknown): result is DeliveryResult {
  return result !== undefined && isResult(result);
}

function isUndefined(result: unknown): boolean {
  return result === undefined;
}

function verdict(error: unknown): DeliveryResult {
  return isFinal(error) ? dead(error) : retry(error);
}
