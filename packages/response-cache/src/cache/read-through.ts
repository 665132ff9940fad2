import { Answer, areVersionsOf } from '../answer/answer.ts';
import {
  type AnswerOptions,
  type Kept,
  type Outcome,
  type Producer,
  useOf,
} from '../answer/answer-options.ts';
import type { Found, JsonStore } from '../store/json-store.ts';
import { givenUp, Lookup } from './pending-run.ts';
import type { SingleFlight, Wanted } from './single-flight.ts';
import { TagPrefetcher, type TagPrefetch } from './tag-prefetcher.ts';
import type { Renewals } from './renewals.ts';
import { positiveInteger } from '../validate.ts';
import type { Count, Counters, Tally } from '../stats.ts';
import type { StoreHealth } from '../outages/store-health.ts';
import type { Versions } from '../store/tag-versions.ts';
import { DecodedEntries } from '../answer/decoded-entries.ts';

/** The result of {@link ReadThrough.peek} if a new response is due early, and none is being made. */
export const due: unique symbol = Symbol('due');
export type Peeked = Kept | typeof due | undefined;

/* Stands for a value that is not text. */
const foreignValue = '';

type Expected = Pick<TagPrefetch, 'expected' | 'versions' | 'isCurrent'>;

/** Reads the store, and decides if the value found is sent, renewed or replaced. */
export class ReadThrough {
  readonly #count: Count;
  readonly #store: JsonStore;
  readonly #health: StoreHealth;
  readonly #counters: Counters;
  readonly #singleFlight: SingleFlight;
  readonly #renewals: Renewals;
  readonly #decoded = new DecodedEntries();
  readonly #prefetcher: TagPrefetcher;

  constructor(
    store: JsonStore,
    health: StoreHealth,
    { counters, count }: Tally,
    singleFlight: SingleFlight,
    renewals: Renewals,
  ) {
    this.#count = count;
    this.#store = store;
    this.#health = health;
    this.#counters = counters;
    this.#singleFlight = singleFlight;
    this.#renewals = renewals;
    this.#prefetcher = new TagPrefetcher(store, this.#decoded);
    singleFlight.lookAgain = (key, produce, options) => this.answer(key, produce, options);
  }

  /** Returns the stored value under `key`, otherwise the one that `produce` makes. */
  answer(key: string, produce: Producer, options: AnswerOptions): Kept | Promise<Outcome> {
    const running = this.#singleFlight.running(key);
    const renews = options.stale !== undefined || (options.early ?? false) !== false;
    // A caller with `stale` or `early` does not join: it gets the old value while that is being replaced.
    if (running !== undefined && !renews) return this.#singleFlight.join(running, produce, options);
    if (this.#health.isDown) return this.#bypass(key, produce, options);
    // Versions are requested first: if one command reads everything, they are known once the value is.
    const prefetch = this.#prefetcher.start(key);
    let found: Found | Promise<Found>;
    try {
      found = this.#store.get(key);
    } catch (error) {
      this.#health.fail(key, error);
      return this.#bypass(key, produce, options);
    }
    if (!(found instanceof Object)) return this.#take(found, key, produce, options, true);
    return this.#await(new Lookup(key, produce, options), found, prefetch);
  }

  /**
   * Returns the stored value under `key` if it may be sent now, without producing anything. Only a returned value is counted:
   * without one, the caller continues with `answer`.
   */
  peek(key: string, options: AnswerOptions): Peeked | Promise<Peeked> {
    if (this.#health.isDown) return undefined;
    try {
      const prefetch = this.#prefetcher.start(key);
      const found = this.#store.get(key);
      if (found instanceof Object) return this.#peekLater(found, key, options, prefetch);
      const kept = typeof found === 'string' ? this.#decoded.of(key, found, true) : undefined;
      if (!(kept instanceof Answer)) return this.#countPeeked(kept, key, options);
      const isCurrent = this.#compareVersions(kept);
      if (isCurrent === true) return this.#peekAt(kept, key, options);
      if (isCurrent === false) return undefined;
      const expected = { expected: kept, versions: isCurrent, isCurrent: undefined };
      return this.#peekLater(found, key, options, expected);
    } catch (error) {
      this.#health.fail(key, error);
      return undefined;
    }
  }

  async #peekLater(
    found: Found | Promise<Found>,
    key: string,
    options: AnswerOptions,
    prefetch: Expected | undefined,
  ): Promise<Peeked> {
    try {
      const value = found instanceof Object ? await this.#health.withinDeadline(key, found) : found;
      const kept = typeof value === 'string' ? this.#decoded.of(key, value) : undefined;
      if (!(kept instanceof Answer)) return this.#countPeeked(kept, key, options);
      const known = this.#isStillCurrent(kept, key, prefetch);
      // Awaiting a known result would cost as much as awaiting a pending one.
      const isCurrent = typeof known === 'boolean' ? known : await known;
      return isCurrent ? this.#peekAt(kept, key, options) : undefined;
    } catch (error) {
      if (!this.#store.holdsForeignValue?.(error)) this.#health.fail(key, error);
      return undefined;
    }
  }

  #isStillCurrent(
    kept: Answer,
    key: string,
    prefetch: Expected | undefined,
  ): boolean | Promise<boolean> {
    const known =
      prefetch?.expected === kept
        ? (prefetch.isCurrent ?? prefetch.versions)
        : this.#compareVersions(kept);
    if (typeof known === 'boolean') return known;
    return this.#health.withinDeadline(key, known).then((now) => areVersionsOf(kept, now));
  }

  #countPeeked(kept: string | undefined, key: string, options: AnswerOptions): string | undefined {
    if (kept === undefined || hasToHaveTags(options)) return undefined;
    this.#count('hits', key);
    return kept;
  }

  #peekAt(found: Answer, key: string, options: AnswerOptions): Peeked {
    if (!this.#isUsable(found, options)) return undefined;
    const use = useOf(found, options);
    if (use === 'not at all') return undefined;
    if (use !== 'as it is' && this.#singleFlight.running(key) === undefined)
      return use === 'renew' ? undefined : due;
    this.#count(use === 'renew' ? 'stale' : 'hits', key);
    return use === 'renew' ? new Answer(found.json, found, 'stale', found.seal) : found;
  }

  #await(
    lookup: Lookup,
    found: Promise<Found>,
    prefetch: TagPrefetch | undefined,
  ): Promise<Outcome> {
    const { key, produce, options } = lookup;
    this.#health.watch(lookup);
    // The first caller to detect an outage gives up the lookups of all; each caller's producer runs in that caller's context.
    const outcome = lookup.promise.then((end) =>
      end === givenUp ? this.#bypass(key, produce, options) : end,
    );
    const take = (value: Found): void => {
      if (prefetch === undefined || !this.#prefetcher.isExpected(prefetch, value))
        return this.#end(lookup, value);
      const { isCurrent, expected } = prefetch;
      const decide = (isIt: boolean): void => this.#end(lookup, isIt ? expected : value);
      if (isCurrent !== undefined) return decide(isCurrent);
      prefetch.versions.then((now) => decide(areVersionsOf(expected, now)), fail);
    };
    const fail = (error: unknown): void => {
      if (lookup.isSettled) return;
      this.#health.settle(lookup);
      if (this.#store.holdsForeignValue?.(error)) {
        return lookup.resolve(this.#take(foreignValue, key, produce, options));
      }
      this.#health.fail(key, error);
      lookup.resolve(this.#bypass(key, produce, options));
    };
    // A custom store may return any object. A promise is passed through unchanged.
    Promise.resolve(found).then(take, fail);
    return outcome;
  }

  /** @param found an answer whose tags are known to be current, or the value from the store */
  #end(lookup: Lookup, found: Answer | Found): void {
    if (!this.#health.settle(lookup)) return;
    const { key, produce, options } = lookup;
    lookup.resolve(
      found instanceof Answer
        ? this.#use(found, key, produce, options)
        : this.#take(found, key, produce, options),
    );
  }

  #take(
    found: Found,
    key: string,
    produce: Producer,
    options: AnswerOptions,
    isOwn = false,
  ): Kept | Promise<Outcome> {
    if (typeof found === 'string') {
      const kept = this.#decoded.of(key, found, isOwn);
      if (kept instanceof Answer) return this.#takeAnswer(kept, key, produce, options);
      if (kept !== undefined && !hasToHaveTags(options)) {
        this.#count('hits', key);
        return kept;
      }
      if (kept === undefined) this.#counters.invalid += 1;
    }
    return this.#miss(key, produce, options, typeof found === 'string' ? undefined : '');
  }

  /** @param outdated the seal of the unusable value that was found; undefined if that was not written by this cache */
  #miss(
    key: string,
    produce: Producer,
    options: AnswerOptions,
    outdated: string | undefined,
  ): Promise<Outcome> {
    const running = this.#singleFlight.running(key);
    if (running !== undefined) return this.#singleFlight.join(running, produce, options);
    return this.#singleFlight.start({ key, produce, options }, 'misses', outdated);
  }

  #takeAnswer(
    found: Answer,
    key: string,
    produce: Producer,
    options: AnswerOptions,
  ): Kept | Promise<Outcome> {
    let isCurrent: boolean | Promise<boolean>;
    try {
      isCurrent = this.#isCurrent(found, key);
    } catch (error) {
      this.#health.fail(key, error);
      return this.#bypass(key, produce, options);
    }
    if (isCurrent === true) return this.#use(found, key, produce, options);
    if (isCurrent === false) return this.#miss(key, produce, options, found.seal);
    return isCurrent.then(
      (isIt) =>
        isIt
          ? this.#use(found, key, produce, options)
          : this.#miss(key, produce, options, found.seal),
      (error: unknown) => {
        this.#health.fail(key, error);
        return this.#bypass(key, produce, options);
      },
    );
  }

  #use(
    found: Answer,
    key: string,
    produce: Producer,
    options: AnswerOptions,
  ): Kept | Promise<Outcome> {
    if (!this.#isUsable(found, options)) return this.#miss(key, produce, options, found.seal);
    const use = useOf(found, options);
    if (use === 'not at all') return this.#miss(key, produce, options, found.seal);
    if (use === 'as it is') {
      this.#count('hits', key);
      return found;
    }
    const old = use === 'renew' ? new Answer(found.json, found, 'stale', found.seal) : found;
    if (this.#singleFlight.running(key) === undefined) {
      const wanted = { key, produce, options };
      if (options.renew !== 'behind' && options.patience === undefined)
        return this.#renewHere(wanted, old);
      return this.#renewBehind(wanted, old);
    }
    return this.#giveOld(old, key);
  }

  #giveOld(old: Answer, key: string): Answer {
    this.#count(old.source === 'stale' ? 'stale' : 'hits', key);
    return old;
  }

  #renewHere(wanted: Wanted, old: Answer): Kept | Promise<Outcome> {
    const made = this.#renewals.make(wanted, old);
    if (made === undefined) return this.#giveOld(old, wanted.key);
    return made.then((outcome) => outcome ?? this.#giveOld(old, wanted.key));
  }

  #renewBehind(wanted: Wanted, old: Answer): Kept | Promise<Outcome> {
    const { key, options } = wanted;
    const { patience } = options;
    if (patience !== undefined) positiveInteger('patience', patience);
    const produce = options.produceBehind ?? wanted.produce;
    const renewal = this.#renewals.start({ ...wanted, produce }, old);
    if (patience === undefined) return this.#giveOld(old, key);
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => resolve(undefined), patience);
    return Promise.race([renewal, promise]).then((outcome) => {
      clearTimeout(timer);
      if (outcome === undefined) return this.#giveOld(old, key);
      this.#count('misses', key);
      return outcome;
    });
  }

  /**
   * True if the head of `found` is valid and it has the tags that a new response would have: a response of an earlier release may
   * lack some, and an invalidation of those would not reach it.
   */
  #isUsable(found: Answer, options: AnswerOptions): boolean {
    if (!found.isHeadWhole) {
      if (options.isHead?.(found.head) === false) return false;
      found.isHeadWhole = true;
    }
    const tags = namedTagsOf(options);
    // One comparison is enough if the caller passes the same list each time, as a route does.
    if (tags === undefined || found.hasTagsOf === tags) return true;
    const { tagPrefix } = this.#singleFlight;
    if (!tags.every((tag) => found.tags.includes(tagPrefix + tag))) return false;
    found.hasTagsOf = tags;
    return true;
  }

  /** True if no tag of `found` was invalidated since it was made. */
  #isCurrent(found: Answer, key: string): boolean | Promise<boolean> {
    const isCurrent = this.#compareVersions(found);
    if (isCurrent instanceof Promise)
      return this.#health
        .withinDeadline(key, isCurrent)
        .then((versions) => this.#countIfNot(areVersionsOf(found, versions)));
    return this.#countIfNot(isCurrent);
  }

  /** Returns true if the versions of its tags are current; a promise of the versions if the store has to be asked for them. */
  #compareVersions(found: Answer): boolean | Promise<Versions> {
    if (found.tags.length === 0) return true;
    const { tags } = this.#store;
    const epoch = tags?.epoch;
    if (epoch !== undefined && found.currentIn === epoch) return true;
    const now = tags?.read(found.tags) ?? [];
    if (now instanceof Promise) return now;
    const isCurrent = areVersionsOf(found, now as Versions);
    // Only with an epoch: versions that had to be requested may change later unnoticed.
    if (isCurrent && epoch !== undefined) found.currentIn = epoch;
    return isCurrent;
  }

  #countIfNot(isCurrent: boolean): boolean {
    if (!isCurrent) this.#counters.invalidated += 1;
    return isCurrent;
  }

  /** Returns the stored value under `key`, if it is still valid. */
  async find(key: string): Promise<Kept | undefined> {
    const kept = await this.#find(key);
    this.#count(kept === undefined ? 'misses' : 'hits', key);
    return kept;
  }

  async #find(key: string): Promise<Kept | undefined> {
    if (this.#health.isDown) return undefined;
    try {
      const got = this.#store.get(key);
      const isOwn = !(got instanceof Object);
      const found = isOwn ? got : await this.#health.withinDeadline(key, got);
      const kept = typeof found === 'string' ? this.#decoded.of(key, found, isOwn) : undefined;
      if (!(kept instanceof Answer)) return kept;
      const isFresh = Date.now() < kept.madeAt + kept.freshMs;
      if (!isFresh || !(await this.#isCurrent(kept, key)) || kept.isOutdated) return undefined;
      return kept;
    } catch (error) {
      if (!this.#store.holdsForeignValue?.(error)) this.#health.fail(key, error);
      return undefined;
    }
  }

  #bypass(key: string, produce: Producer, options: AnswerOptions): Promise<Outcome> {
    const running = this.#singleFlight.running(key);
    if (running !== undefined) return this.#singleFlight.join(running, produce, options);
    return this.#singleFlight.start({ key, produce, options }, 'bypasses', '');
  }
}

function namedTagsOf({ tags, leastTags }: AnswerOptions): readonly string[] | undefined {
  return tags === true ? leastTags : tags;
}

/** Returns true if a text without tags is not usable. */
function hasToHaveTags(options: AnswerOptions): boolean {
  const tags = namedTagsOf(options);
  return tags !== undefined && tags.length > 0;
}
