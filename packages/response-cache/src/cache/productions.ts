import { Answer, Shared } from '../answer/answer.ts';
import { checkTags } from '../validate/check-values.ts';
import {
  Flight,
  type AnswerOptions,
  type Kept,
  type Outcome,
  type Producer,
} from '../answer/flight.ts';
import type { Claim, Keeper } from './keeper.ts';
import { positiveInteger } from '../validate/positive-integer.ts';
import type { Count, Counters, Tally } from '../counts/stats.ts';
import type { StoreHealth } from '../outages/store-health.ts';
import { hardNameOf } from '../answer/tag-names.ts';
import { toJson } from '../answer/to-json.ts';
import { Unshared } from '../answer/unshared.ts';

/* A producer that never settles would otherwise block its key for good. */
const flightLifetimeMs = 30_000;

/** What a caller asks for: the value under a key, and how it is made where the store has none. */
export interface Wanted {
  readonly key: string;
  readonly produce: Producer;
  readonly options: AnswerOptions;
}

/** Produces responses, each once for all waiting callers, and stores them. */
export class Productions {
  readonly #keeper: Keeper;
  readonly #health: StoreHealth;
  readonly #counters: Counters;
  readonly #count: Count;
  readonly #ttl: number;
  /** Put before the tags of this cache. */
  readonly tagPrefix: string;
  readonly #flights = new Map<string, Flight>();
  /** Reads the store once more, for a value made by another process. */
  lookAgain!: (key: string, produce: Producer, options: AnswerOptions) => Kept | Promise<Outcome>;

  constructor(
    keeper: Keeper,
    health: StoreHealth,
    tally: Tally,
    defaults: { ttl: number; keyPrefix: string },
  ) {
    this.#keeper = keeper;
    this.#health = health;
    this.#counters = tally.counters;
    this.#count = tally.count;
    this.#ttl = defaults.ttl;
    this.tagPrefix = defaults.keyPrefix;
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

  /** `isLast` if the flight that this caller waited for earlier has failed. */
  join(
    flight: Flight,
    produce: Producer,
    options: AnswerOptions,
    isLast = false,
  ): Promise<Outcome> {
    return flight.promise.then(
      (outcome) => {
        if (flight.isMadeElsewhere) return this.lookAgain(flight.key, produce, options);
        const isNotForAll = outcome instanceof Unshared || (flight.isSuperseded && isLast);
        if (isNotForAll) return this.#produceAlone(flight.key, produce, options);
        if (flight.isSuperseded) return this.#joinNext(flight.key, produce, options);
        this.#counters.shared += 1;
        return outcome;
      },
      (error: unknown) => {
        // The first caller is one like the others: its failure may be its own.
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
    const as = this.#health.isDown ? 'bypasses' : 'misses';
    return this.start({ key, produce, options }, as, '');
  }

  /** @param outdated the end of the outdated value in the store; undefined if it was not written by this cache */
  start(wanted: Wanted, as: 'misses' | 'bypasses', outdated: string | undefined): Promise<Outcome> {
    const { key, produce, options } = wanted;
    const flight = this.#fly(wanted, as, outdated);
    return flight.promise.then((outcome) =>
      flight.isMadeElsewhere ? this.lookAgain(key, produce, options) : outcome,
    );
  }

  /** Produces the replacement of `old`, which stands in if that fails. */
  renew(wanted: Wanted, old: Answer): Promise<Outcome> {
    const { key, options } = wanted;
    const flight = this.#fly(wanted, undefined, '', old);
    return flight.promise.then(
      (outcome) => {
        this.#count('misses', key);
        return outcome;
      },
      (error: unknown) => {
        const standsIn = !flight.isOutdated && options.staleOnError?.(error) !== false;
        this.#count(standsIn ? 'stale' : 'misses', key);
        if (standsIn) return old;
        throw error;
      },
    );
  }

  /** As `renew`, for nobody: it counts as no miss, and a failure is the caller's. */
  renewBehind(wanted: Wanted, old: Answer): Promise<Outcome> {
    return this.#fly(wanted, undefined, '', old).promise;
  }

  #fly(
    { key, produce, options }: Wanted,
    as: 'misses' | 'bypasses' | undefined,
    outdated: string | undefined,
    renews?: Answer,
  ): Flight {
    const flight = new Flight(key, options, outdated, renews);
    this.#flights.set(key, flight);
    void this.#produce(flight, produce, as);
    return flight;
  }

  /** A response being produced for `key` now is not stored, and not given to later callers. */
  forget(key: string): void {
    const flight = this.#flights.get(key);
    if (flight !== undefined) this.#ground(flight);
  }

  /** As `forget`, for everything that has one of `tags`, or may have. */
  forgetTagged(tags: ReadonlySet<string>): void {
    for (const flight of this.#flights.values()) if (flight.hasOneOf(tags)) this.#ground(flight);
  }

  /** As `forget`, for all keys of which that is true. */
  forgetWhere(isMeant: (key: string) => boolean): void {
    for (const flight of this.#flights.values()) if (isMeant(flight.key)) this.#ground(flight);
  }

  forgetAll(): void {
    for (const flight of this.#flights.values()) this.#ground(flight);
  }

  async #produce(
    flight: Flight,
    produce: Producer,
    as: 'misses' | 'bypasses' | undefined,
  ): Promise<void> {
    const { key, options } = flight;
    let claim: Claim | 'made' | undefined;
    try {
      const ttl = positiveInteger('ttl', options.ttl ?? this.#ttl);
      if (options.tags !== true) checkTags(options.name ?? key, options.tags);
      const claiming = this.#keeper.claim(flight);
      claim = claiming instanceof Promise ? await claiming : claiming;
      if (claim === 'made') {
        flight.isMadeElsewhere = true;
        this.#land(flight);
        flight.resolve('');
        return;
      }
      if (as !== undefined) this.#count(as, key);
      const startedAt = performance.now();
      const value = await produce();
      if (value instanceof Unshared) {
        this.#counters.unshared += 1;
        void claim.lease?.release().catch(() => {});
        this.#land(flight);
        flight.resolve(value);
        return;
      }
      const ownTtl = (value instanceof Shared ? value.details.ttl : undefined) ?? ttl;
      if (ownTtl !== 0) positiveInteger('ttl', ownTtl);
      const costMs = performance.now() - startedAt;
      const made = this.#toAnswer(key, value, options, { freshMs: ownTtl, costMs });
      const lifetimeMs = ownTtl === 0 ? 0 : ownTtl + (options.stale ?? 0);
      const kept = this.#keeper.keep(flight, made, lifetimeMs, claim);
      if (kept !== undefined && 'before' in kept) await kept.before;
      // Lookups sent before the answer was stored are answered before it was: whoever finds nothing even then must
      // still find the flight. So it lands when the store has taken the answer.
      const isDone = kept === undefined || 'before' in kept;
      if (isDone) this.#land(flight);
      flight.resolve(made);
      if (!isDone) await kept.after;
    } catch (error) {
      if (typeof claim === 'object') void claim.lease?.release().catch(() => {});
      // Before anybody hears of it: they look for the next one.
      this.#land(flight);
      flight.reject(error);
    }
    this.#land(flight);
  }

  /* Not stored: unlike a flight, delete() cannot stop it from storing a value that is outdated by then. */
  async #produceAlone(key: string, produce: Producer, options: AnswerOptions): Promise<Outcome> {
    this.#count('misses', key);
    const startedAt = performance.now();
    const value = await produce();
    const costMs = performance.now() - startedAt;
    if (!(value instanceof Unshared))
      return this.#toAnswer(key, value, options, { freshMs: this.#ttl, costMs });
    this.#counters.unshared += 1;
    return value;
  }

  #toAnswer(
    key: string,
    value: unknown,
    options: AnswerOptions,
    { freshMs, costMs }: Pick<Answer, 'freshMs' | 'costMs'>,
  ): Kept {
    const name = options.name ?? `the key "${key}"`;
    const serialize = options.serialize ?? JSON.stringify;
    const details = value instanceof Shared ? value.details : undefined;
    const json =
      details?.json ?? toJson(value instanceof Shared ? value.value : value, name, serialize);
    checkTags(name, details?.tags);
    const head = details?.head ?? '';
    const named = options.tags === true ? [] : (options.tags ?? []);
    const own = [...new Set([...named, ...(details?.tags ?? [])])].map(
      (tag) => this.tagPrefix + tag,
    );
    const tags = options.stale ? [...own, ...own.map(hardNameOf)] : own;
    const isPlain = head === '' && tags.length === 0 && !options.dated;
    if (isPlain && !options.stale && !options.early) return json;
    const facts = { head, madeAt: Date.now(), freshMs, costMs: Math.round(costMs), tags };
    return new Answer(json, { ...facts, versions: [] }, 'made');
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
