import { Answer, Shared } from './answer.ts';
import { CacheError } from './errors.ts';
import { Flight, type AnswerOptions, type Kept, type Outcome, type Producer } from './flight.ts';
import type { Found, JsonStore } from './json-store.ts';
import { resolveOptions, type JsonCacheOptions } from './options.ts';
import { positiveInteger } from './positive-integer.ts';
import { seal, unseal } from './seal.ts';
import { zeroCounters, type Counters, type JsonCacheStats } from './stats.ts';
import { Lookup } from './lookup.ts';
import { StoreHealth } from './store-health.ts';
import { toJson } from './to-json.ts';
import { Unshared } from './unshared.ts';

const noOptions: AnswerOptions = {};
/* A producer that never settles would otherwise take its key with it. */
const flightLifetimeMs = 30_000;
/* Stands for a value that is no text at all. */
const foreignValue = '';

/**
 * Keeps answers as the JSON text they leave as: a hit is neither parsed nor serialised.
 *
 * - Callers who find nothing under one key at the same time share one production.
 * - A store that is down or hangs costs no answer: producers run, still once per key, until it answers again.
 *
 * @example
 * ```ts
 * const cache = new JsonCache({ store: redisStore(client), ttl: 30_000 });
 * const json = await cache.answer('/articles?page=1', () => db.articles({ page: 1 }));
 * ```
 */
export class JsonCache {
  readonly #store: JsonStore;
  readonly #ttl: number;
  readonly #keyPrefix: string;
  readonly #health: StoreHealth;
  readonly #flights = new Map<string, Flight>();
  readonly #counters: Counters = zeroCounters();

  /** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
  constructor(options: JsonCacheOptions = {}) {
    const { store, ttl, keyPrefix, timeoutMs, logger } = resolveOptions(options);
    this.#store = store;
    this.#ttl = ttl;
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
   * once, else a promise. An {@link Unshared} is what `produce` returned to this very call through `unshared`; an
   * {@link Answer} has the head that a producer gave through `shared`.
   *
   * What `produce` throws reaches its own caller, and nothing is stored. Those who waited for it share one more run,
   * and what that one throws. What a producer returns must be JSON: `null` is, `undefined`, strings, bytes and streams
   * are not (ERR_REDLINE_CACHE_NOT_JSON).
   */
  answer(
    key: string,
    produce: Producer,
    options: AnswerOptions = noOptions,
  ): Kept | Promise<Outcome> {
    const fullKey = this.#keyPrefix + key;
    const running = this.#running(fullKey);
    if (running !== undefined) return this.#join(running, produce, options);
    if (this.#health.isDown) return this.#bypass(fullKey, produce, options);
    let found: Found | Promise<Found>;
    try {
      found = this.#store.get(fullKey);
    } catch (error) {
      this.#health.fail(fullKey, error);
      return this.#bypass(fullKey, produce, options);
    }
    if (found instanceof Object) return this.#await(found, fullKey, produce, options);
    return this.#take(found, fullKey, produce, options);
  }

  /**
   * Forgets `key`. Answers that are being made for it now are not stored either, in this process.
   *
   * @throws {CacheError} ERR_REDLINE_CACHE_STORE_DOWN: the store may give out the old answer once it is back, until its time is up.
   */
  async delete(key: string): Promise<void> {
    const fullKey = this.#keyPrefix + key;
    const flight = this.#flights.get(fullKey);
    if (flight !== undefined) this.#ground(flight);
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

  #await(
    found: Promise<Found>,
    key: string,
    produce: Producer,
    options: AnswerOptions,
  ): Promise<Outcome> {
    const lookup = new Lookup(key, produce, options, this.#giveUp);
    this.#health.watch(lookup);
    found.then(
      (value) =>
        this.#health.settle(lookup) && lookup.resolve(this.#take(value, key, produce, options)),
      (error: unknown) => {
        if (lookup.isSettled) return;
        this.#health.settle(lookup);
        if (this.#store.holdsForeignValue?.(error)) {
          return lookup.resolve(this.#take(foreignValue, key, produce, options));
        }
        this.#health.fail(key, error);
        lookup.resolve(this.#bypass(key, produce, options));
      },
    );
    return lookup.promise;
  }

  readonly #giveUp = ({ key, produce, options, resolve }: Lookup): void => {
    resolve(this.#bypass(key, produce, options));
  };

  #take(
    found: Found,
    key: string,
    produce: Producer,
    options: AnswerOptions,
  ): Kept | Promise<Outcome> {
    if (typeof found === 'string') {
      const kept = unseal(found);
      if (kept !== undefined) {
        this.#counters.hits += 1;
        return kept;
      }
      this.#counters.invalid += 1;
    }
    const running = this.#running(key);
    if (running !== undefined) return this.#join(running, produce, options);
    this.#counters.misses += 1;
    return this.#start(key, produce, options);
  }

  #bypass(key: string, produce: Producer, options: AnswerOptions): Promise<Outcome> {
    const running = this.#running(key);
    if (running !== undefined) return this.#join(running, produce, options);
    this.#counters.bypasses += 1;
    return this.#start(key, produce, options);
  }

  /** The flight that serves `key` now; one that takes too long takes no more callers. */
  #running(key: string): Flight | undefined {
    const flight = this.#flights.get(key);
    if (flight === undefined) return undefined;
    if (performance.now() - flight.startedAt < flightLifetimeMs) return flight;
    this.#ground(flight);
    return undefined;
  }

  /** `isLast` where the flight that this caller waited for before has failed. */
  #join(
    flight: Flight,
    produce: Producer,
    options: AnswerOptions,
    isLast = false,
  ): Promise<Outcome> {
    return flight.promise.then(
      (outcome) => {
        if (outcome instanceof Unshared) return this.#produceAlone(flight.key, produce, options);
        this.#counters.shared += 1;
        return outcome;
      },
      (error: unknown) => {
        // The first who asked is one caller like the others: his failure may be his alone.
        const isAbandoned = flight.options.isAbandoned?.() === true;
        if (isLast && !isAbandoned) throw error;
        const running = this.#running(flight.key);
        if (running !== undefined) return this.#join(running, produce, options, !isAbandoned);
        this.#countMiss();
        return this.#start(flight.key, produce, options);
      },
    );
  }

  #countMiss(): void {
    if (this.#health.isDown) this.#counters.bypasses += 1;
    else this.#counters.misses += 1;
  }

  #start(key: string, produce: Producer, options: AnswerOptions): Promise<Outcome> {
    const flight = new Flight(key, options);
    this.#flights.set(key, flight);
    void this.#produce(flight, produce, options);
    return flight.promise;
  }

  async #produce(flight: Flight, produce: Producer, options: AnswerOptions): Promise<void> {
    const { key } = flight;
    try {
      const ttl = positiveInteger('ttl', options.ttl ?? this.#ttl);
      const value = await produce();
      if (value instanceof Unshared) {
        this.#counters.unshared += 1;
        flight.resolve(value);
      } else {
        const answer = this.#toAnswer(key, value, options);
        const ownTtl = (value instanceof Shared ? value.details.ttl : undefined) ?? ttl;
        const isKept = !flight.isOutdated && ownTtl !== 0;
        const kept = isKept ? this.#keep(key, answer, positiveInteger('ttl', ownTtl)) : undefined;
        // Lookups sent before the answer was stored are answered before it was: whoever finds nothing even then must
        // still find the flight. So it lands when the store has taken the answer.
        if (kept === undefined) this.#land(flight);
        flight.resolve(answer);
        await kept;
      }
    } catch (error) {
      // Before anybody hears of it: they look for the next one.
      this.#land(flight);
      flight.reject(error);
    }
    this.#land(flight);
  }

  /* Not stored: it is no flight, so delete() could not stop it from storing what is outdated by then. */
  async #produceAlone(key: string, produce: Producer, options: AnswerOptions): Promise<Outcome> {
    this.#counters.misses += 1;
    const value = await produce();
    if (!(value instanceof Unshared)) return this.#toAnswer(key, value, options);
    this.#counters.unshared += 1;
    return value;
  }

  #toAnswer(key: string, value: unknown, options: AnswerOptions): Kept {
    const name = options.name ?? `the key "${key}"`;
    const serialize = options.serialize ?? JSON.stringify;
    if (!(value instanceof Shared)) return toJson(value, name, serialize);
    const { head, json = toJson(value.value, name, serialize) } = value.details;
    return head === undefined ? json : new Answer(json, head);
  }

  /** Undefined when it is done at once. */
  #keep(key: string, answer: Kept, ttl: number): Promise<void> | undefined {
    if (this.#health.isDown) return undefined;
    const taken = (): void => void (this.#counters.stores += 1);
    const refused = (): void => void (this.#counters.storeErrors += 1);
    try {
      const kept = this.#store.set(key, seal(answer), ttl);
      if (kept instanceof Object)
        return this.#health.withinDeadline(key, kept).then(taken, refused);
      taken();
    } catch {
      refused();
    }
    return undefined;
  }

  #land(flight: Flight): void {
    // Once it is outdated, another flight may run under the key.
    if (this.#flights.get(flight.key) === flight) this.#flights.delete(flight.key);
  }

  #ground(flight: Flight): void {
    flight.isOutdated = true;
    this.#land(flight);
  }
}

function notDeleted(key: string, cause?: unknown): CacheError {
  return new CacheError(
    'ERR_REDLINE_CACHE_STORE_DOWN',
    `The key "${key}" was not deleted, because the store is down: it may give out the old answer once it is back, until its time is up.`,
    cause === undefined ? undefined : { cause },
  );
}
