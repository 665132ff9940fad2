import { Answer, Shared, shared, hardNameOf } from '../answer/answer.ts';
import { ReadThrough, type Peeked } from './read-through.ts';
import { aBoolean, checkTags, checkValues, refuseUnknown, positiveInteger } from '../validate.ts';
import type { Drops, JsonStore } from '../store/json-store.ts';
import { CacheError } from '../errors.ts';
import {
  publishEvent,
  zeroCounters,
  type Count,
  type Counters,
  type JsonCacheStats,
} from '../stats.ts';
import {
  type AnswerOptions,
  type Kept,
  type Outcome,
  type Producer,
  Unshared,
} from '../answer/answer-options.ts';
import { StoreWriter } from './store-writer.ts';
import type { CacheLogger } from '../outages/logger.ts';
import { resolveOptions, type JsonCacheOptions } from './options.ts';
import { keysToPurge, type PurgeOf } from './purge.ts';
import { SingleFlight } from './single-flight.ts';
import { Renewals } from './renewals.ts';
import { encodeEntry } from '../answer/entry-format.ts';
import { StoreHealth } from '../outages/store-health.ts';
import { inspect } from 'node:util';

const noOptions: AnswerOptions = {};
/* Max keys whose failed renewals are logged: a key for each user would fill the log. */
const maxFailing = 20;

/** Options of {@link JsonCache.set}. */
export interface SetOptions {
  /** @default the `ttl` of the cache */
  ttl?: number;
  /** Tags for `invalidate`. */
  tags?: readonly string[];
}

/** Options of {@link JsonCache.invalidate}. */
export interface InvalidateOptions {
  /**
   * Responses with `stale` count as past their `ttl` instead of deleted: they are sent until a new one is made, within `stale`.
   * @default false
   */
  soft?: boolean;
}

/**
 * Keeps responses as the JSON text that is sent: a hit is neither parsed nor serialised.
 *
 * - Callers that miss under one key at the same time share one run of the producer.
 * - A store that is down or hangs never fails a response: producers run, still once per key, until it responds again.
 *
 * @example
 * ```ts
 * const cache = new JsonCache({ store: redisStore(client), ttl: 30_000 });
 * const json = await cache.answer('/articles?page=1', () => db.articles({ page: 1 }));
 * ```
 */
export class JsonCache {
  /** Its name in events and metrics. */
  readonly name: string;
  /** Undefined if `logger` is false. */
  readonly logger: CacheLogger | undefined;
  readonly #store: JsonStore;
  readonly #ttl: number;
  readonly #keyPrefix: string;
  readonly #health: StoreHealth;
  readonly #counters: Counters = zeroCounters();
  readonly #singleFlight: SingleFlight;
  readonly #readThrough: ReadThrough;

  /** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
  constructor(options: JsonCacheOptions = {}) {
    const { name, store, ttl, keyPrefix, timeoutMs, logger } = resolveOptions(options);
    this.name = name;
    this.logger = logger;
    this.#store = store;
    this.#ttl = ttl;
    this.#keyPrefix = keyPrefix;
    this.#health = new StoreHealth(store, timeoutMs, logger, name);
    store.watchFaults?.((fault) => this.#health.warn(`The store of the JSON cache: ${fault}`));
    const count: Count = (what, key) => {
      this.#counters[what] += 1;
      publishEvent(what, name, key);
    };
    const [health, tally] = [this.#health, { counters: this.#counters, count }];
    const writer = new StoreWriter(store, health, tally.counters);
    this.#singleFlight = new SingleFlight(writer, health, tally, { ttl, keyPrefix });
    const failing = new Set<string>();
    const renewals = new Renewals(store, health, this.#singleFlight, (key, error) => {
      // Only the first failure of each key is logged: callers get the error itself once the old value is too old.
      if (failing.has(key) || failing.size === maxFailing) return;
      failing.add(key);
      const reason = error instanceof Error ? error.message : String(error);
      health.warn(`The renewal of "${key}" behind its responses failed: ${reason}`);
    });
    this.#readThrough = new ReadThrough(store, health, tally, this.#singleFlight, renewals);
  }

  /** Live counters: copy them to compare. */
  get stats(): JsonCacheStats {
    return this.#counters;
  }

  /** True during an outage of the store. */
  get isStoreDown(): boolean {
    return this.#health.isDown;
  }

  /** Number of times the store emptied its part in this process because the connection that reports changes was lost. */
  get memoryLosses(): number {
    return this.#store.drops?.losses ?? 0;
  }

  /** True if the store has tags. */
  get hasTags(): boolean {
    return this.#store.tags !== undefined;
  }

  /** Reports of the store about dropped values, by the keys of this cache; undefined if the store does not report them. */
  get drops(): Drops | undefined {
    const { drops } = this.#store;
    if (drops === undefined) return undefined;
    return {
      get isCoherent(): boolean {
        return drops.isCoherent;
      },
      namesOf: (key, tags) => drops.namesOf(this.#keyPrefix + key, tags),
      watch: (listener) => drops.watch(listener),
    };
  }

  /**
   * Returns the JSON under `key`, from the store or otherwise from `produce`: a string if the store responds
   * synchronously, otherwise a promise. An {@link Unshared} is the value that `produce` returned to this very call
   * through `unshared`; an {@link Answer} adds its head, its tags and the time it was made.
   *
   * An error thrown by `produce` reaches its own caller, and nothing is stored. The callers that waited for it share one
   * more run, and its error. A producer must return JSON: `null` is, `undefined`, strings, bytes and streams are not
   * (ERR_REDLINE_CACHE_NOT_JSON).
   */
  answer(
    key: string,
    produce: Producer,
    options: AnswerOptions = noOptions,
  ): Kept | Promise<Outcome> {
    return this.#readThrough.answer(this.#keyPrefix + key, produce, options);
  }

  /**
   * Returns the response under `key` if it may be sent now; undefined if it has to be produced, `due` if it should be
   * produced early: call `answer` for both. A string or an {@link Answer} if the store responds synchronously, otherwise
   * a promise, which never rejects.
   */
  peek(key: string, options: AnswerOptions = noOptions): Peeked | Promise<Peeked> {
    return this.#readThrough.peek(this.#keyPrefix + key, options);
  }

  /** Returns the parsed value under `key`; undefined if it is missing or the store is down. */
  async get<T>(key: string): Promise<T | undefined> {
    const kept = await this.#readThrough.find(this.#keyPrefix + key);
    return kept === undefined ? undefined : (JSON.parse(textOf(kept)) as T);
  }

  /** Returns the values under several keys, each as from `get`. */
  getMany<T>(keys: readonly string[]): Promise<(T | undefined)[]> {
    return Promise.all(keys.map((key) => this.get<T>(key)));
  }

  /**
   * Keeps `value` under `key`. Its source may have changed since it was read: `wrap` notices that, `set` cannot.
   *
   * @throws {CacheError} ERR_REDLINE_CACHE_STORE_DOWN, ERR_REDLINE_CACHE_NOT_JSON, ERR_REDLINE_CACHE_OPTION
   */
  async set(key: string, value: unknown, options: SetOptions = {}): Promise<void> {
    refuseUnknown('set', options, { ttl: true, tags: true });
    const { ttl = this.#ttl, tags = [] } = options;
    checkTags('set', tags);
    positiveInteger('ttl', ttl);
    const json = jsonOf(value, key);
    const fullKey = this.#keyPrefix + key;
    if (tags.length > 0 && this.#store.tags === undefined) throw lacks('tags', 'set');
    this.#singleFlight.forget(fullKey);
    await this.#reach(key, 'set', async () => {
      const named = tags.map((tag) => this.#keyPrefix + tag);
      const versions = named.length === 0 ? [] : await this.#store.tags!.open(named);
      const facts = {
        head: '',
        madeAt: Date.now(),
        freshMs: ttl,
        costMs: 0,
        tags: named,
        versions,
      };
      const kept = named.length === 0 ? json : new Answer(json, facts, 'made');
      await this.#store.set(fullKey, encodeEntry(kept), ttl);
    });
    this.#counters.stores += 1;
  }

  /**
   * Returns the parsed value under `key`, otherwise the result of `produce`, which is stored: one run for simultaneous
   * callers.
   *
   * @throws what `produce` throws; {CacheError} ERR_REDLINE_CACHE_NOT_JSON if it returns `undefined`.
   * @example
   * ```ts
   * const user = await cache.wrap(`user:${id}`, () => db.user(id), { ttl: 60_000, tags: [`user:${id}`] });
   * ```
   */
  async wrap<T>(
    key: string,
    produce: () => T | Promise<T>,
    options: AnswerOptions = noOptions,
  ): Promise<T> {
    const outcome = await this.answer(
      key,
      async () => {
        const value: unknown = await produce();
        if (value instanceof Unshared || value instanceof Shared) return value;
        return shared(value, { json: jsonOf(value, key) });
      },
      options,
    );
    return (outcome instanceof Unshared ? outcome.value : JSON.parse(textOf(outcome))) as T;
  }

  /**
   * Deletes `key`. Responses being produced for it now are not stored either, in this process.
   *
   * @throws {CacheError} ERR_REDLINE_CACHE_STORE_DOWN: once available again, the store may serve the old response until
   * its ttl ends.
   */
  async delete(key: string): Promise<void> {
    const fullKey = this.#keyPrefix + key;
    this.#singleFlight.forget(fullKey);
    await this.#reach(key, 'deleted', () => this.#store.delete(fullKey));
    publishEvent('drop', this.name, fullKey);
  }

  /**
   * Deletes every response that has one of `tags`, in every process that shares the store. The cost does not depend on
   * their number. Responses being produced now are not stored either, in any process.
   *
   * With `soft`, responses kept with `stale` become outdated instead: they are sent within `stale` until a new one is made.
   *
   * @throws {CacheError} ERR_REDLINE_CACHE_STORE_DOWN, as `delete`; ERR_REDLINE_CACHE_OPTION: the store has no tags.
   */
  async invalidate(
    tags: string | readonly string[],
    options: InvalidateOptions = {},
  ): Promise<void> {
    refuseUnknown('invalidate', options, { soft: true });
    checkValues('invalidate', options, { soft: aBoolean });
    const named = (typeof tags === 'string' ? [tags] : tags).map((tag) => this.#keyPrefix + tag);
    if (named.length === 0) return;
    const list = options.soft === true ? named : [...named, ...named.map(hardNameOf)];
    const { tags: versions } = this.#store;
    if (versions === undefined) throw lacks('tags', 'invalidate');
    this.#singleFlight.forgetTagged(new Set(typeof tags === 'string' ? [tags] : tags));
    const names = named.join(', ');
    await this.#reach(names, 'invalidated', () => versions.invalidate(list));
    publishEvent('drop', this.name, names);
  }

  /**
   * Deletes the responses of routes to a URL, or to all URLs with a prefix, for every host, caller and `vary`. It scans all keys
   * of the store, as `clear` does: for frequent use, tags cost less. Routes with a `key` of their own have no URL.
   *
   * @throws {CacheError} ERR_REDLINE_CACHE_OPTION: the store has no `purge`; ERR_REDLINE_CACHE_STORE_DOWN, as `clear`.
   */
  async purge(of: PurgeOf): Promise<void> {
    const isMeant = keysToPurge(of, this.#keyPrefix);
    this.#singleFlight.forgetWhere(isMeant);
    const { purge } = this.#store;
    if (purge === undefined) throw lacks('purge()', 'purge');
    const what = 'url' in of ? of.url : `${of.prefix}*`;
    await this.#scan(what, 'purged', () => purge.call(this.#store, this.#keyPrefix, isMeant));
    // Again, for responses that were about to be stored meanwhile.
    this.#singleFlight.forgetWhere(isMeant);
  }

  /**
   * Deletes everything under the `keyPrefix` of this cache. In Redis this scans all keys.
   *
   * @throws {CacheError} ERR_REDLINE_CACHE_OPTION: the store has no `clear`; ERR_REDLINE_CACHE_STORE_DOWN: the store is
   * down or hangs, and some responses may be left.
   */
  async clear(): Promise<void> {
    this.#singleFlight.forgetAll();
    const { clear } = this.#store;
    if (clear === undefined) throw lacks('clear()', 'clear');
    await this.#scan(`${this.#keyPrefix}*`, 'cleared', () =>
      clear.call(this.#store, this.#keyPrefix),
    );
  }

  /** Counts a response that an HTTP engine keeps. @internal */
  countEngine(): void {
    this.#counters.engineKept += 1;
  }

  /** Stops watching the store, and closes the connections that the store itself opened. Its client stays open: you close it. */
  close(): void {
    this.#health.close();
    this.#store.close?.();
  }

  /** Runs a store operation whose duration grows with the number of keys. */
  async #scan(what: string, done: string, act: () => void | Promise<unknown>): Promise<void> {
    if (this.#health.isDown) throw notDone(what, done);
    try {
      const acted = act();
      if (acted instanceof Object) await this.#health.whileAnswering(what, acted);
    } catch (error) {
      throw notDone(what, done, error);
    }
    publishEvent('drop', this.name, what);
  }

  /** Runs a store operation that must not be lost. */
  async #reach(what: string, done: string, act: () => void | Promise<unknown>): Promise<void> {
    if (this.#health.isDown) throw notDone(what, done);
    try {
      const acted = act();
      if (acted instanceof Object) await this.#health.withinDeadline(what, acted);
    } catch (error) {
      this.#counters.storeErrors += 1;
      this.#health.refuse(this.#keyPrefix + what, error);
      throw notDone(what, done, error);
    }
  }
}

function textOf(kept: Kept): string {
  return typeof kept === 'string' ? kept : kept.json;
}

function jsonOf(value: unknown, key: string): string {
  const json = JSON.stringify(value) as string | undefined;
  if (json !== undefined) return json;
  throw new CacheError(
    'ERR_REDLINE_CACHE_NOT_JSON',
    `The value of the key "${key}" cannot be JSON: it is ${value === undefined ? 'undefined' : `a ${typeof value}`}. Use null for nothing.`,
  );
}

function lacks(what: string, method: string): CacheError {
  return new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `${method} needs a store that has ${what}, as memoryStore and redisStore have.`,
  );
}

function notDone(what: string, done: string, cause?: unknown): CacheError {
  return new CacheError(
    'ERR_REDLINE_CACHE_STORE_DOWN',
    `"${what}" was not ${done}, because the store is down: once available again it may serve the old response until its ttl ends.`,
    cause === undefined ? undefined : { cause },
  );
}

/**
 * Recognises a JsonCache by its methods, because another copy of the package may have made it.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
 */
export function requireCache(what: string, cache: JsonCache): void {
  const { answer, peek } = (cache ?? {}) as Partial<JsonCache>;
  if (typeof answer === 'function' && typeof peek === 'function') return;
  throw new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `${what} must be a JsonCache; got ${inspect(cache, { depth: 0 })}.`,
  );
}
