import { Answer, Shared } from './answer.ts';
import { CacheError } from './errors.ts';
import { Flight, type AnswerOptions, type Kept, type Outcome, type Producer } from './flight.ts';
import type { JsonStore } from './json-store.ts';
import { positiveInteger } from './positive-integer.ts';
import { seal } from './seal.ts';
import type { Counters } from './stats.ts';
import type { StoreHealth } from './store-health.ts';
import { toJson } from './to-json.ts';
import { Unshared } from './unshared.ts';

/* A producer that never settles would otherwise take its key with it. */
const flightLifetimeMs = 30_000;
/* Earlier than any version of a tag: what was made without a ticket is not stored. */
const noTicket = -1;

/** Makes answers, each once for all who wait for it, and has them stored. */
export class Productions {
  readonly #store: JsonStore;
  readonly #health: StoreHealth;
  readonly #counters: Counters;
  readonly #ttl: number;
  readonly #tagPrefix: string;
  readonly #flights = new Map<string, Flight>();

  constructor(
    store: JsonStore,
    health: StoreHealth,
    counters: Counters,
    defaults: { ttl: number; keyPrefix: string },
  ) {
    this.#store = store;
    this.#health = health;
    this.#counters = counters;
    this.#ttl = defaults.ttl;
    this.#tagPrefix = defaults.keyPrefix;
  }

  /** The flight that serves `key` now; one that takes too long takes no more callers. */
  running(key: string): Flight | undefined {
    // Most of the time there is none, and the hash of a long key costs more than the rest of this.
    if (this.#flights.size === 0) return undefined;
    const flight = this.#flights.get(key);
    if (flight === undefined) return undefined;
    if (performance.now() - flight.startedAt < flightLifetimeMs) return flight;
    this.#ground(flight);
    return undefined;
  }

  /** `isLast` where the flight that this caller waited for before has failed. */
  join(
    flight: Flight,
    produce: Producer,
    options: AnswerOptions,
    isLast = false,
  ): Promise<Outcome> {
    return flight.promise.then(
      (outcome) => {
        const isNotForAll = outcome instanceof Unshared || (flight.isSuperseded && isLast);
        if (isNotForAll) return this.#produceAlone(flight.key, produce, options);
        if (flight.isSuperseded) return this.#joinNext(flight.key, produce, options);
        this.#counters.shared += 1;
        return outcome;
      },
      (error: unknown) => {
        // The first who asked is one caller like the others: his failure may be his alone.
        const isAbandoned = flight.options.isAbandoned?.() === true;
        if (isLast && !isAbandoned) throw error;
        return this.#joinNext(flight.key, produce, options, !isAbandoned);
      },
    );
  }

  #joinNext(
    key: string,
    produce: Producer,
    options: AnswerOptions,
    isLast = true,
  ): Promise<Outcome> {
    const running = this.running(key);
    if (running !== undefined) return this.join(running, produce, options, isLast);
    if (this.#health.isDown) this.#counters.bypasses += 1;
    else this.#counters.misses += 1;
    return this.start(key, produce, options);
  }

  start(key: string, produce: Producer, options: AnswerOptions): Promise<Outcome> {
    return this.#fly(key, produce, options).promise;
  }

  /** Makes what takes the place of `old`, which stands in where that fails. */
  renew(key: string, produce: Producer, options: AnswerOptions, old: Answer): Promise<Outcome> {
    const flight = this.#fly(key, produce, options);
    return flight.promise.then(
      (outcome) => {
        this.#counters.misses += 1;
        return outcome;
      },
      (error: unknown) => {
        const standsIn = !flight.isOutdated && options.staleOnError?.(error) !== false;
        this.#counters[standsIn ? 'stale' : 'misses'] += 1;
        if (standsIn) return old;
        throw error;
      },
    );
  }

  #fly(key: string, produce: Producer, options: AnswerOptions): Flight {
    const flight = new Flight(key, options);
    this.#flights.set(key, flight);
    void this.#produce(flight, produce);
    return flight;
  }

  /** What is being made for `key` now is not stored, and is not for those who ask from now on. */
  forget(key: string): void {
    const flight = this.#flights.get(key);
    if (flight !== undefined) this.#ground(flight);
  }

  /** As `forget`, for everything that has one of `tags`, or may have. */
  forgetTagged(tags: ReadonlySet<string>): void {
    for (const flight of this.#flights.values()) if (flight.hasOneOf(tags)) this.#ground(flight);
  }

  forgetAll(): void {
    for (const flight of this.#flights.values()) this.#ground(flight);
  }

  async #produce(flight: Flight, produce: Producer): Promise<void> {
    const { key, options } = flight;
    try {
      const ttl = positiveInteger('ttl', options.ttl ?? this.#ttl);
      const ticket = options.tags === undefined ? noTicket : await this.#takeTicket(key);
      const startedAt = performance.now();
      const value = await produce();
      if (value instanceof Unshared) {
        this.#counters.unshared += 1;
        this.#land(flight);
        flight.resolve(value);
        return;
      }
      const ownTtl = (value instanceof Shared ? value.details.ttl : undefined) ?? ttl;
      if (ownTtl !== 0) positiveInteger('ttl', ownTtl);
      const made = this.#toAnswer(key, value, options, ownTtl, performance.now() - startedAt);
      const isTagged = typeof made !== 'string' && made.tags.length > 0;
      const answer = isTagged ? await this.#withVersions(flight, made, ticket) : made;
      const isKept = answer !== undefined && ownTtl !== 0 && !flight.isOutdated;
      const kept = isKept ? this.#keep(key, answer, ownTtl + (options.stale ?? 0)) : undefined;
      // Lookups sent before the answer was stored are answered before it was: whoever finds nothing even then must
      // still find the flight. So it lands when the store has taken the answer.
      if (kept === undefined) this.#land(flight);
      flight.resolve(made);
      await kept;
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
    const startedAt = performance.now();
    const value = await produce();
    if (!(value instanceof Unshared))
      return this.#toAnswer(key, value, options, this.#ttl, performance.now() - startedAt);
    this.#counters.unshared += 1;
    return value;
  }

  #toAnswer(
    key: string,
    value: unknown,
    options: AnswerOptions,
    freshMs: number,
    costMs: number,
  ): Kept {
    const name = options.name ?? `the key "${key}"`;
    const serialize = options.serialize ?? JSON.stringify;
    const details = value instanceof Shared ? value.details : undefined;
    const json =
      details?.json ?? toJson(value instanceof Shared ? value.value : value, name, serialize);
    const head = details?.head ?? '';
    const named = options.tags === true ? [] : (options.tags ?? []);
    const tags = [...new Set([...named, ...(details?.tags ?? [])])].map(
      (tag) => this.#tagPrefix + tag,
    );
    const isPlain = head === '' && tags.length === 0 && !options.dated;
    if (isPlain && !options.stale && !options.early) return json;
    const facts = { head, madeAt: Date.now(), freshMs, costMs: Math.round(costMs), tags };
    return new Answer(json, { ...facts, versions: [] }, 'made');
  }

  /**
   * The time of the tags before what an answer is made of is read: whatever is invalidated from then on keeps it out.
   * @throws {CacheError} ERR_REDLINE_CACHE_OPTION: the store has no tags.
   */
  #takeTicket(key: string): number | Promise<number> {
    const { tags } = this.#store;
    if (tags === undefined) {
      throw new CacheError(
        'ERR_REDLINE_CACHE_OPTION',
        'The store of the cache has no tags: use memoryStore or redisStore, or give your JsonStore its tags.',
      );
    }
    if (this.#health.isDown) return noTicket;
    try {
      const ticket = tags.ticket();
      if (typeof ticket === 'number') return ticket;
      return this.#health.withinDeadline(key, ticket).catch(() => noTicket);
    } catch {
      return noTicket;
    }
  }

  /** Undefined where a tag was invalidated since the ticket was taken, or nobody knows. */
  async #withVersions(flight: Flight, made: Answer, ticket: number): Promise<Answer | undefined> {
    if (ticket === noTicket || this.#health.isDown) return undefined;
    try {
      const opened = Promise.resolve(this.#store.tags!.open(made.tags));
      const versions = await this.#health.withinDeadline(flight.key, opened);
      flight.isSuperseded = versions.some((version) => version > ticket);
      return flight.isSuperseded ? undefined : new Answer(made.json, { ...made, versions }, 'made');
    } catch {
      this.#counters.storeErrors += 1;
      return undefined;
    }
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
