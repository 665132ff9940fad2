import { CacheError } from './errors.ts';
import { Flight, type AnswerOptions, type Outcome, type Producer } from './flight.ts';
import type { Found, JsonStore } from './json-store.ts';
import { resolveOptions, type JsonCacheOptions } from './options.ts';
import { positiveInteger } from './positive-integer.ts';
import { seal, unseal } from './seal.ts';
import { zeroCounters, type Counters, type JsonCacheStats } from './stats.ts';
import { StoreHealth } from './store-health.ts';
import { toJson } from './to-json.ts';
import { Unshared } from './unshared.ts';

const noOptions: AnswerOptions = {};
/* A producer that never settles would else take its key with it. */
const flightLifetimeMs = 30_000;
/* Stands for a value that is no text at all. */
const foreignValue = '';

/**
 * Keeps answers as the JSON text they leave as: a hit is neither parsed nor serialised.
 *
 * - Callers who ask for one key at the same time share one lookup and one production.
 * - A store that is down or hangs costs no answer: producers run, still once per key, until it answers again.
 *
 * @example
 * ```ts
 * const cache = new JsonCache({ store: redisStore(client), ttlMs: 30_000 });
 * const json = await cache.answer('/articles?page=1', () => db.articles({ page: 1 }));
 * ```
 */
export class JsonCache {
  readonly #store: JsonStore;
  readonly #ttlMs: number;
  readonly #keyPrefix: string;
  readonly #health: StoreHealth;
  readonly #flights = new Map<string, Flight>();
  readonly #counters: Counters = zeroCounters();

  /** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
  constructor(options: JsonCacheOptions = {}) {
    const { store, ttlMs, keyPrefix, timeoutMs, logger } = resolveOptions(options);
    this.#store = store;
    this.#ttlMs = ttlMs;
    this.#keyPrefix = keyPrefix;
    this.#health = new StoreHealth(store, timeoutMs, logger);
  }

  /** Counters that go on counting: copy them to compare. */
  get stats(): JsonCacheStats {
    return this.#counters;
  }

  /** True during an outage of the store. */
  get isStoreDown(): boolean {
    return this.#health.isDown;
  }

  /**
   * The JSON under `key`, from the store or else from `produce`: a string at once where the store answers at
   * once, else a promise. An {@link Unshared} is what `produce` returned to this very call through `unshared`.
   *
   * What `produce` throws reaches everyone who waits for it, and nothing is stored. What it returns must be JSON:
   * `null` is, `undefined`, strings, bytes and streams are not (ERR_REDLINE_CACHE_NOT_JSON).
   */
  answer(
    key: string,
    produce: Producer,
    options: AnswerOptions = noOptions,
  ): string | Promise<Outcome> {
    const fullKey = this.#keyPrefix + key;
    const running = this.#flights.get(fullKey);
    if (running !== undefined) {
      if (performance.now() - running.issuedAt < flightLifetimeMs) {
        return this.#join(running, produce, options);
      }
      running.isOutdated = true;
    }

    let found: Found | Promise<Found>;
    let isBypassed = this.#health.isDown;
    if (!isBypassed) {
      try {
        found = this.#store.get(fullKey);
      } catch (error) {
        this.#health.fail(fullKey, error);
        isBypassed = true;
      }
    }
    if (typeof found === 'string') {
      const json = unseal(found);
      if (json !== undefined) {
        this.#counters.hits += 1;
        return json;
      }
    }

    const flight = new Flight(fullKey, produce, options, this.#bypass);
    this.#flights.set(fullKey, flight);
    if (isBypassed) this.#bypass(flight);
    else if (found instanceof Object) this.#await(found, flight);
    else this.#take(found, flight);
    return flight.promise;
  }

  /**
   * Forgets `key`. Answers that are being made for it now are not stored either, in this process.
   *
   * @throws {CacheError} ERR_REDLINE_CACHE_STORE_DOWN: the store may give out the old answer once it is back, until its time is up.
   */
  async delete(key: string): Promise<void> {
    const fullKey = this.#keyPrefix + key;
    const flight = this.#flights.get(fullKey);
    if (flight !== undefined) {
      flight.isOutdated = true;
      this.#flights.delete(fullKey);
    }
    if (this.#health.isDown) throw notDeleted(key);
    let deleted: void | Promise<unknown>;
    try {
      deleted = this.#store.delete(fullKey);
    } catch (error) {
      this.#health.fail(fullKey, error);
      throw notDeleted(key, error);
    }
    if (!(deleted instanceof Object)) return;
    await this.#health.withinDeadline(fullKey, deleted).catch((error: unknown) => {
      throw notDeleted(key, error);
    });
  }

  /** Ends the watch over the store. The store's client stays open: who made it closes it. */
  close(): void {
    this.#health.close();
  }

  #await(found: Promise<Found>, flight: Flight): void {
    this.#health.watch(flight);
    found.then(
      (value) => this.#health.settle(flight) && this.#take(value, flight),
      (error: unknown) => {
        if (flight.isSettled) return;
        this.#health.settle(flight);
        if (this.#store.holdsForeignValue?.(error)) return this.#take(foreignValue, flight);
        this.#health.fail(flight.key, error);
        this.#bypass(flight);
      },
    );
  }

  #take(found: Found, flight: Flight): void {
    if (typeof found === 'string') {
      const json = unseal(found);
      if (json !== undefined) {
        this.#counters.hits += flight.callers;
        this.#land(flight);
        return flight.resolve(json);
      }
      this.#counters.invalid += 1;
    }
    this.#counters.misses += 1;
    void this.#produce(flight);
  }

  readonly #bypass = (flight: Flight): void => {
    this.#counters.bypasses += 1;
    void this.#produce(flight);
  };

  #join(flight: Flight, produce: Producer, options: AnswerOptions): Promise<Outcome> {
    flight.callers += 1;
    return flight.promise.then((outcome) =>
      outcome instanceof Unshared ? this.#produceAlone(flight.key, produce, options) : outcome,
    );
  }

  async #produce(flight: Flight): Promise<void> {
    const { key, options } = flight;
    try {
      const ttlMs = positiveInteger('ttlMs', options.ttlMs ?? this.#ttlMs);
      const value = await flight.produce();
      if (value instanceof Unshared) {
        this.#counters.unshared += 1;
        this.#land(flight);
        return flight.resolve(value);
      }
      const json = this.#toJson(key, value, options);
      if (!flight.isOutdated) this.#keep(key, json, ttlMs);
      this.#counters.shared += flight.callers - 1;
      this.#land(flight);
      flight.resolve(json);
    } catch (error) {
      this.#land(flight);
      flight.reject(error);
    }
  }

  /* Not stored: it is no flight, so delete() could not stop it from storing what is outdated by then. */
  async #produceAlone(key: string, produce: Producer, options: AnswerOptions): Promise<Outcome> {
    this.#counters.misses += 1;
    const value = await produce();
    if (!(value instanceof Unshared)) return this.#toJson(key, value, options);
    this.#counters.unshared += 1;
    return value;
  }

  #toJson(key: string, value: unknown, options: AnswerOptions): string {
    return toJson(value, options.name ?? `the key "${key}"`, options.serialize ?? JSON.stringify);
  }

  #keep(key: string, json: string, ttlMs: number): void {
    if (this.#health.isDown) return;
    const taken = (): void => void (this.#counters.stores += 1);
    const refused = (): void => void (this.#counters.storeErrors += 1);
    try {
      const kept = this.#store.set(key, seal(json), ttlMs);
      if (kept instanceof Object) kept.then(taken, refused);
      else taken();
    } catch {
      refused();
    }
  }

  #land(flight: Flight): void {
    // When it is outdated, another flight may run under the key.
    if (!flight.isOutdated) this.#flights.delete(flight.key);
  }
}

function notDeleted(key: string, cause?: unknown): CacheError {
  return new CacheError(
    'ERR_REDLINE_CACHE_STORE_DOWN',
    `The key "${key}" was not deleted, because the store is down: it may give out the old answer once it is back, until its time is up.`,
    cause === undefined ? undefined : { cause },
  );
}
