import { DeadlineQueue, type PendingCall } from './deadline-queue.ts';
import { CacheError } from '../errors.ts';
import { tell } from '../counts/events.ts';
import type { JsonStore } from '../store/json-store.ts';
import type { CacheLogger } from './logger.ts';

const probeIntervalMs = 100;
/* A probe this old may be lost for good; a hanging store still gets no more than a few commands a minute. */
const probeLifetimeMs = 5_000;

/** Knows whether the store can be asked, tells its outages, and finds out in the background when one is over. */
export class StoreHealth {
  /** While true, nobody asks the store but the probe. */
  isDown = false;

  readonly #store: JsonStore;
  readonly #timeoutMs: number;
  readonly #logger: CacheLogger | undefined;
  readonly #name: string;
  readonly #calls: DeadlineQueue;
  #downSince = 0;
  #probeKey = '';
  #probeSentAt: number | undefined;
  #probeTimer: NodeJS.Timeout | undefined;

  constructor(store: JsonStore, timeoutMs: number, logger: CacheLogger | undefined, name: string) {
    this.#name = name;
    this.#store = store;
    this.#timeoutMs = timeoutMs;
    this.#logger = logger;
    this.#calls = new DeadlineQueue(timeoutMs, (call) => this.fail(call.key, timedOut(timeoutMs)));
  }

  /** Holds `call` to the deadline. */
  watch(call: PendingCall): void {
    this.#calls.add(call);
  }

  /** False when the answer came too late, and `call` was given up. */
  settle(call: PendingCall): boolean {
    if (!call.isSettled) {
      this.#calls.settle(call);
      return true;
    }
    if (this.isDown && this.#probeSentAt === undefined) this.#probe();
    return false;
  }

  /** Settles as `answer` does, and rejects when that takes too long. */
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
      answer.then(
        (value) => this.settle(call) && resolve(value),
        (error: unknown) => this.settle(call) && reject(error),
      );
    });
  }

  /** Starts an outage, unless there is one. Probes read `key`, because in a cluster only its own node can answer for it. */
  fail(key: string, reason: unknown): void {
    if (this.isDown) return;
    this.isDown = true;
    this.#downSince = performance.now();
    this.#probeKey = key;
    const text = reason instanceof Error ? reason.message : String(reason);
    this.#logger?.warn(
      `The store of the JSON cache is down, responses are made without it: ${text}`,
    );
    tell('outage', this.#name, text);
    this.#probeTimer = setInterval(() => this.#probeIfDue(), probeIntervalMs);
    this.#probeTimer.unref();
    this.#calls.drain();
  }

  /** Ends the probing, and with it any way out of an outage. */
  close(): void {
    clearInterval(this.#probeTimer);
  }

  #recover(): void {
    if (!this.isDown) return;
    this.isDown = false;
    clearInterval(this.#probeTimer);
    const outageMs = Math.round(performance.now() - this.#downSince);
    tell('recovery', this.#name, `${outageMs} ms`);
    this.#logger?.log(`The store of the JSON cache is available again after ${outageMs} ms.`);
  }

  #probeIfDue(): void {
    const isWaiting =
      this.#probeSentAt !== undefined && performance.now() - this.#probeSentAt < probeLifetimeMs;
    if (!isWaiting) this.#probe();
  }

  #probe(): void {
    const sentAt = performance.now();
    let found: ReturnType<JsonStore['get']>;
    try {
      found = this.#store.get(this.#probeKey);
    } catch {
      return;
    }
    if (!(found instanceof Object)) return this.#recover();
    this.#probeSentAt = sentAt;
    found.then(
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
    // Too slow to be used; but it lives, so ask again at once.
    if (performance.now() - sentAt > this.#timeoutMs) this.#probe();
    else this.#recover();
  }
}

function timedOut(timeoutMs: number): CacheError {
  return new CacheError(
    'ERR_REDLINE_CACHE_STORE_TIMEOUT',
    `The store did not respond within ${timeoutMs} ms.`,
  );
}
