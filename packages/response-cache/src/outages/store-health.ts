import { DeadlineQueue, type PendingCall } from './deadline-queue.ts';
import { CacheError } from '../errors.ts';
import { publishEvent } from '../stats.ts';
import type { JsonStore } from '../store/json-store.ts';
import { neverFailing, type CacheLogger } from './logger.ts';

const probeIntervalMs = 100;
/* A probe this old may be lost for good; a hanging store still gets no more than a few commands a minute. */
const probeLifetimeMs = 5_000;

/* Max time for work on all keys, in deadlines of a call: 250 s by default, enough for about 100 million keys of a Redis. */
const maxWork = 1_000;
/* Max number of different refusals logged: a store that names each value in its errors would fill the log. */
const maxRefusals = 8;
const probeSuffix = ':redline-probe';
const probeValue = '0';
const probeValueMs = 1_000;

/** Tracks the availability of the store, reports its outages, and detects in the background when one is over. */
export class StoreHealth {
  /** While true, only the probe calls the store. */
  isDown = false;

  readonly #store: JsonStore;
  readonly #timeoutMs: number;
  readonly #logger: CacheLogger | undefined;
  readonly #name: string;
  readonly #calls: DeadlineQueue;
  /* Calls of `whileUp`, which wait for something other than a prompt response of the store. */
  readonly #waiting = new Set<() => void>();
  #downSince = 0;
  #probeKey = '';
  #probeSentAt: number | undefined;
  #probeTimer: NodeJS.Timeout | undefined;
  /* True if the outage is one of writes: successful reads do not show that it is over. */
  #refusesWrites = false;
  #isTryingWrites = false;
  #isClosed = false;
  readonly #refusals = new Set<string>();

  constructor(store: JsonStore, timeoutMs: number, logger: CacheLogger | undefined, name: string) {
    this.#name = name;
    this.#store = store;
    this.#timeoutMs = timeoutMs;
    this.#logger = logger && neverFailing(logger);
    this.#calls = new DeadlineQueue(timeoutMs, (call) => this.fail(call.key, timedOut(timeoutMs)));
  }

  /** Holds `call` to the deadline. */
  watch(call: PendingCall): void {
    this.#calls.add(call);
    // Nothing else would give it up: pending calls were given up when the outage began.
    if (this.isDown) this.#calls.drain();
  }

  /**
   * Settles like `answer`, which may take long without a fault of the store; rejects when an outage begins, and after
   * `times` the deadline of a call.
   */
  whileUp<T>(answer: Promise<T>, times: number): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const giveUp = (): void => reject(timedOut(this.#timeoutMs));
    const timer = setTimeout(giveUp, times * this.#timeoutMs);
    timer.unref();
    this.#waiting.add(giveUp);
    if (this.isDown) giveUp();
    // A custom store may return something other than a promise.
    Promise.resolve(answer).then(resolve, reject);
    const stop = (): void => {
      clearTimeout(timer);
      this.#waiting.delete(giveUp);
    };
    promise.then(stop, stop);
    return promise;
  }

  /** Returns false if the response came too late, and `call` was given up. */
  settle(call: PendingCall): boolean {
    if (!call.isSettled) {
      this.#calls.settle(call);
      return true;
    }
    if (this.isDown && this.#probeSentAt === undefined) this.#probe();
    return false;
  }

  /** Settles like `answer`, and rejects if that takes too long. */
  withinDeadline<T>(key: string, answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const call: PendingCall = {
        key,
        issuedAt: performance.now(),
        isSettled: false,
        wasExtended: false,
        next: undefined,
        giveUp: () => reject(timedOut(this.#timeoutMs)),
      };
      this.watch(call);
      Promise.resolve(answer).then(
        (value) => this.settle(call) && resolve(value),
        (error: unknown) => this.settle(call) && reject(error),
      );
    });
  }

  /**
   * Settles like `work`, whose duration grows with the number of keys; rejects once the store no longer responds to a
   * concurrent read of `key`, and after a thousand times the deadline of a call.
   */
  async whileAnswering<T>(key: string, work: Promise<T>): Promise<T> {
    let isOver = false;
    const within = this.whileUp(work, maxWork);
    const stop = (): void => void (isOver = true);
    const over = within.then(stop, stop);
    const ask = async (): Promise<never> => {
      for (;;) {
        await this.#read(key);
        const pause = Promise.withResolvers<void>();
        const timer = setTimeout(pause.resolve, this.#timeoutMs);
        await Promise.race([pause.promise, over]);
        clearTimeout(timer);
        // The work has settled the race already.
        if (isOver) return new Promise<never>(() => {});
      }
    };
    return Promise.race([within, ask()]);
  }

  async #read(key: string): Promise<void> {
    try {
      const found = this.#store.get(key);
      if (found instanceof Object) await this.withinDeadline(key, found);
    } catch (error) {
      if (this.#store.holdsForeignValue?.(error) !== true) throw error;
    }
  }

  /** Starts an outage, unless one has begun. Probes read `key`, because in a cluster only its own node can serve it. */
  fail(key: string, reason: unknown): void {
    if (this.isDown) return;
    this.isDown = true;
    this.#downSince = performance.now();
    this.#probeKey = key;
    const text = textOf(reason);
    this.#logger?.warn(
      `The store of the JSON cache is down, responses are made without it: ${text}`,
    );
    publishEvent('outage', this.#name, text);
    this.#probeTimer = setInterval(() => this.#probeIfDue(), probeIntervalMs);
    this.#probeTimer.unref();
    this.#calls.drain();
    for (const giveUp of this.#waiting) giveUp();
  }

  /**
   * Handles a refused write. A store that refuses all writes, such as a replica, a full Redis or one whose user may not
   * run scripts, is down for a cache: nothing would be kept, and nothing could be invalidated.
   */
  refuse(key: string, reason: unknown): void {
    if (this.isDown || this.#isClosed) return;
    const text = textOf(reason);
    const isNew = this.#refusals.size < maxRefusals && !this.#refusals.has(text);
    if (!isNew && this.#isTryingWrites) return;
    this.#refusals.add(text);
    this.#isTryingWrites = true;
    // An outage has a log line of its own, written once.
    const reportRefusal = (): void => {
      if (!isNew || this.isDown || this.#isClosed) return;
      this.#logger?.warn(`The store of the JSON cache refused a value: ${text}`);
    };
    const fail = (error: unknown): void => {
      if (this.isDown || this.#isClosed) return;
      this.#refusesWrites = true;
      this.fail(key, error);
    };
    void this.#write(key)
      .then(reportRefusal, fail)
      .finally(() => (this.#isTryingWrites = false));
  }

  /* Tries all kinds of writes: a user of Redis may have permission for only one of them. */
  async #write(key: string): Promise<void> {
    const { set, tags, lease } = this.#store;
    const own = `${key}${probeSuffix}`;
    const limit = AbortSignal.timeout(probeLifetimeMs);
    const over = new Promise<never>((_, reject) => {
      limit.addEventListener('abort', () => reject(timedOut(probeLifetimeMs)));
    });
    over.catch(() => {});
    const all = async (): Promise<void> => {
      await set.call(this.#store, own, probeValue, probeValueMs);
      await this.#store.delete(own);
      if (tags !== undefined) await tags.open([own]);
      const taken = await lease?.call(this.#store, own);
      if (typeof taken === 'object') await taken.release();
    };
    await Promise.race([all(), over]);
  }

  /** Logs a warning, and never throws. */
  warn(line: string): void {
    this.#logger?.warn(line);
  }

  /** Stops the probing: an outage then lasts. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#probeTimer);
  }

  #recover(): void {
    if (!this.isDown) return;
    this.isDown = false;
    this.#refusesWrites = false;
    this.#refusals.clear();
    clearInterval(this.#probeTimer);
    const outageMs = Math.round(performance.now() - this.#downSince);
    publishEvent('recovery', this.#name, `${outageMs} ms`);
    this.#logger?.log(`The store of the JSON cache is available again after ${outageMs} ms.`);
  }

  #probeIfDue(): void {
    const isWaiting =
      this.#probeSentAt !== undefined && performance.now() - this.#probeSentAt < probeLifetimeMs;
    if (!isWaiting) this.#probe();
  }

  #probe(): void {
    const sentAt = performance.now();
    if (this.#refusesWrites) {
      this.#probeSentAt = sentAt;
      const failed = (): void => void (this.#probeSentAt = undefined);
      this.#write(this.#probeKey).then(() => this.#probeAnswered(sentAt), failed);
      return;
    }
    let found: ReturnType<JsonStore['get']>;
    try {
      found = this.#store.get(this.#probeKey);
    } catch {
      return;
    }
    if (!(found instanceof Object)) return this.#recover();
    this.#probeSentAt = sentAt;
    Promise.resolve(found).then(
      () => this.#probeAnswered(sentAt),
      (error: unknown) => {
        if (this.#store.holdsForeignValue?.(error)) this.#probeAnswered(sentAt);
        else this.#probeSentAt = undefined;
      },
    );
  }

  #probeAnswered(sentAt: number): void {
    this.#probeSentAt = undefined;
    if (!this.isDown) return;
    // Too slow to be used, but alive: probe again at once.
    if (performance.now() - sentAt > this.#timeoutMs) this.#probe();
    else this.#recover();
  }
}

function textOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}

function timedOut(timeoutMs: number): CacheError {
  return new CacheError(
    'ERR_REDLINE_CACHE_STORE_TIMEOUT',
    `The store did not respond within ${timeoutMs} ms.`,
  );
}
