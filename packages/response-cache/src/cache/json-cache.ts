import { Answer, Shared, shared } from '../answer/answer.ts';
import { Answers, type Peeked } from './answers.ts';
import { hardNameOf } from '../answer/tag-names.ts';
import { aBoolean, checkTags, checkValues } from '../validate/check-values.ts';
import type { Drops } from '../store/drops.ts';
import { CacheError } from '../errors.ts';
import { tell } from '../counts/events.ts';
import type { AnswerOptions, Kept, Outcome, Producer } from '../answer/flight.ts';
import type { JsonStore } from '../store/json-store.ts';
import { Keeper } from './keeper.ts';
import { refuseUnknown } from '../validate/known-options.ts';
import type { CacheLogger } from '../outages/logger.ts';
import { resolveOptions, type JsonCacheOptions } from './options.ts';
import { keysToPurge, type PurgeOf } from './purge.ts';
import { positiveInteger } from '../validate/positive-integer.ts';
import { Productions } from './productions.ts';
import { Renewals } from './renewals.ts';
import { zeroCounters, type Count, type Counters, type JsonCacheStats } from '../counts/stats.ts';
import { seal } from '../answer/seal.ts';
import { StoreHealth } from '../outages/store-health.ts';
import { Unshared } from '../answer/unshared.ts';

const noOptions: AnswerOptions = {};
/* A key for each user would fill the log. */
const maxFailing = 20;

/** How a value of {@link JsonCache.set} is kept. */
export interface SetOptions {
  /** @default the `ttl` of the cache */
  ttl?: number;
  /** Tags for `invalidate`. */
  tags?: readonly string[];
}

/** How tags are invalidated. */
export interface InvalidateOptions {
  /**
   * Responses with `stale` count as past their `ttl`, in place of gone: they are sent until there is a new one, within `stale`.
   * @default false
   */
  soft?: boolean;
}

/**
 * Keeps responses as the JSON text that is sent: a hit is neither parsed nor serialised.
 *
 * - Callers that miss under one key at the same time share one production.
 * - A store that is down or hangs fails no response: producers run, still once per key, until it responds again.
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
  readonly #productions: Productions;
  readonly #answers: Answers;

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
      tell(what, name, key);
    };
    const [health, tally] = [this.#health, { counters: this.#counters, count }];
    const keeper = new Keeper(store, health, tally.counters);
    this.#productions = new Productions(keeper, health, tally, { ttl, keyPrefix });
    const failing = new Set<string>();
    const renewals = new Renewals(store, health, this.#productions, (key, error) => {
      // The first for each key: callers meet the failure itself once the old value is too old.
      if (failing.has(key) || failing.size === maxFailing) return;
      failing.add(key);
      const reason = error instanceof Error ? error.message : String(error);
      health.warn(`The renewal of "${key}" behind its responses failed: ${reason}`);
    });
    this.#answers = new Answers(store, health, tally, this.#productions, renewals);
  }

  /** Live counters: copy them to compare. */
  get stats(): JsonCacheStats {
    return this.#counters;
  }

  /** True during an outage of the store. */
  get isStoreDown(): boolean {
    return this.#health.isDown;
  }

  /** How often the store emptied its part in this process, because the connection that reports changes was lost. */
  get memoryLosses(): number {
    return this.#store.drops?.losses ?? 0;
  }

  /** Whether the store has tags. */
  get hasTags(): boolean {
    return this.#store.tags !== undefined;
  }

  /** How the store tells what no longer holds, by the keys of this cache; undefined where it does not. */
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
   * The JSON under `key`, from the store or otherwise from `produce`: a string if the store responds synchronously,
   * otherwise a promise. An {@link Unshared} is the value that `produce` returned to this very call through `unshared`;
   * an {@link Answer} says more: its head, its tags, when it was made.
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
    return this.#answers.answer(this.#keyPrefix + key, produce, options);
  }

  /**
   * The response under `key` if it may be sent now; undefined if it has to be produced, `due` if it should be produced
   * early: call `answer` for both. A string or an {@link Answer} if the store responds synchronously, otherwise a
   * promise, which never rejects.
   */
  peek(key: string, options: AnswerOptions = noOptions): Peeked | Promise<Peeked> {
    return this.#answers.peek(this.#keyPrefix + key, options);
  }

  /** The value under `key`, parsed; undefined if there is none, or the store is down. */
  async get<T>(key: string): Promise<T | undefined> {
    const kept = await this.#answers.find(this.#keyPrefix + key);
    return kept === undefined ? undefined : (JSON.parse(textOf(kept)) as T);
  }

  /** The values under several keys, each as from `get`. */
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
    this.#productions.forget(fullKey);
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
      await this.#store.set(fullKey, seal(kept), ttl);
    });
    this.#counters.stores += 1;
  }

  /**
   * The value under `key`, parsed, otherwise the result of `produce`, which is stored: one run for simultaneous
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
    this.#productions.forget(fullKey);
    await this.#reach(key, 'deleted', () => this.#store.delete(fullKey));
    tell('drop', this.name, fullKey);
  }

  /**
   * Deletes every response that has one of `tags`, in every process that shares the store. The cost does not depend on
   * their number. Responses being produced now are not stored either, in any process.
   *
   * With `soft` what is kept with `stale` is outdated instead: it is sent within `stale` until there is a new one.
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
    this.#productions.forgetTagged(new Set(typeof tags === 'string' ? [tags] : tags));
    const names = named.join(', ');
    await this.#reach(names, 'invalidated', () => versions.invalidate(list));
    tell('drop', this.name, names);
  }

  /**
   * Deletes the responses of routes to a URL, or to all that begin alike: for every host, caller and `vary`. It looks at all keys
   * of the store, as `clear` does: tags cost less where it is done often. Routes with a `key` of their own have no URL.
   *
   * @throws {CacheError} ERR_REDLINE_CACHE_OPTION: the store has no `purge`; ERR_REDLINE_CACHE_STORE_DOWN, as `clear`.
   */
  async purge(of: PurgeOf): Promise<void> {
    const isMeant = keysToPurge(of, this.#keyPrefix);
    this.#productions.forgetWhere(isMeant);
    const { purge } = this.#store;
    if (purge === undefined) throw lacks('purge()', 'purge');
    const what = 'url' in of ? of.url : `${of.prefix}*`;
    await this.#scan(what, 'purged', () => purge.call(this.#store, this.#keyPrefix, isMeant));
    // What was about to be stored meanwhile.
    this.#productions.forgetWhere(isMeant);
  }

  /**
   * Deletes everything under the `keyPrefix` of this cache. In Redis that scans all its keys.
   *
   * @throws {CacheError} ERR_REDLINE_CACHE_OPTION: the store has no `clear`; ERR_REDLINE_CACHE_STORE_DOWN: the store is
   * down or hangs, and some responses may be left.
   */
  async clear(): Promise<void> {
    this.#productions.forgetAll();
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

  /** Stops watching the store, and closes what the store itself has opened. Its client stays open: you close it. */
  close(): void {
    this.#health.close();
    this.#store.close?.();
  }

  /** Has the store do what takes as long as it has keys. */
  async #scan(what: string, done: string, act: () => void | Promise<unknown>): Promise<void> {
    if (this.#health.isDown) throw notDone(what, done);
    try {
      const acted = act();
      if (acted instanceof Object) await this.#health.whileAnswering(what, acted);
    } catch (error) {
      throw notDone(what, done, error);
    }
    tell('drop', this.name, what);
  }

  /** Has the store do what must not be lost. */
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
