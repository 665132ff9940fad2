import { Answer } from '../answer/answer.ts';
import type { AnswerOptions, Kept, Outcome, Producer } from '../answer/flight.ts';
import { useOf } from '../answer/freshness.ts';
import type { Found, JsonStore } from '../store/json-store.ts';
import { givenUp, Lookup } from './lookup.ts';
import type { Productions, Wanted } from './productions.ts';
import type { Renewals } from './renewals.ts';
import { positiveInteger } from '../validate/positive-integer.ts';
import { compareVersions } from '../answer/tag-names.ts';
import type { Count, Counters, Tally } from '../counts/stats.ts';
import type { StoreHealth } from '../outages/store-health.ts';
import type { Versions } from '../store/tag-versions.ts';
import { Unsealed } from '../answer/unsealed.ts';

/** What {@link Answers.peek} returns where a new response is due early, and nobody makes it. */
export const due: unique symbol = Symbol('due');
export type Peeked = Kept | typeof due | undefined;

/* Stands for a value that is no text at all. */
const foreignValue = '';

/** What is expected under a key, and the versions of its tags, which are on their way. */
interface ReadAhead {
  readonly key: string;
  readonly expected: Answer;
  readonly versions: Promise<Versions>;
  /** Whether they are those of `expected`; undefined until they are there. */
  isCurrent: boolean | undefined;
  /** What was found and is `expected`: the callers of one turn are given one text, and compare it once. */
  found: string | undefined;
}

type Expected = Pick<ReadAhead, 'expected' | 'versions' | 'isCurrent'>;

/** Looks into the store, and decides what becomes of what is found there. */
export class Answers {
  readonly #count: Count;
  readonly #store: JsonStore;
  readonly #health: StoreHealth;
  readonly #counters: Counters;
  readonly #productions: Productions;
  readonly #renewals: Renewals;
  readonly #unsealed = new Unsealed();
  /* That of the hit before, which mostly is under the same key and was made in the same turn. */
  #ahead: ReadAhead | undefined;

  constructor(
    store: JsonStore,
    health: StoreHealth,
    { counters, count }: Tally,
    productions: Productions,
    renewals: Renewals,
  ) {
    this.#count = count;
    this.#store = store;
    this.#health = health;
    this.#counters = counters;
    this.#productions = productions;
    this.#renewals = renewals;
    productions.lookAgain = (key, produce, options) => this.answer(key, produce, options);
  }

  /** What the store has under `key`, or else what `produce` makes. */
  answer(key: string, produce: Producer, options: AnswerOptions): Kept | Promise<Outcome> {
    const running = this.#productions.running(key);
    const renews = options.stale !== undefined || (options.early ?? false) !== false;
    // Where it takes the place of an old one, that is what the others are given.
    if (running !== undefined && !renews) return this.#productions.join(running, produce, options);
    if (this.#health.isDown) return this.#bypass(key, produce, options);
    // The versions first: where one command brings all, they are known when the value is.
    const ahead = this.#readAhead(key);
    let found: Found | Promise<Found>;
    try {
      found = this.#store.get(key);
    } catch (error) {
      this.#health.fail(key, error);
      return this.#bypass(key, produce, options);
    }
    if (!(found instanceof Object)) return this.#take(found, key, produce, options);
    return this.#await(new Lookup(key, produce, options), found, ahead);
  }

  /**
   * What the store has under `key` and may be sent now, without producing anything. Only what it returns is counted: a
   * caller without it comes back with `answer`.
   */
  peek(key: string, options: AnswerOptions): Peeked | Promise<Peeked> {
    if (this.#health.isDown) return undefined;
    try {
      const read = this.#readAhead(key);
      const found = this.#store.get(key);
      if (found instanceof Object) return this.#peekLater(found, key, options, read);
      const kept = typeof found === 'string' ? this.#unsealed.of(key, found) : undefined;
      if (!(kept instanceof Answer)) return this.#countPeeked(kept, key, options);
      const isCurrent = this.#compareVersions(kept);
      if (isCurrent === true) return this.#peekAt(kept, key, options);
      if (isCurrent === false) return undefined;
      const ahead = { expected: kept, versions: isCurrent, isCurrent: undefined };
      return this.#peekLater(found, key, options, ahead);
    } catch (error) {
      this.#health.fail(key, error);
      return undefined;
    }
  }

  async #peekLater(
    found: Found | Promise<Found>,
    key: string,
    options: AnswerOptions,
    ahead: Expected | undefined,
  ): Promise<Peeked> {
    try {
      const value = found instanceof Object ? await this.#health.withinDeadline(key, found) : found;
      const kept = typeof value === 'string' ? this.#unsealed.of(key, value) : undefined;
      if (!(kept instanceof Answer)) return this.#countPeeked(kept, key, options);
      const known = this.#isStillCurrent(kept, key, ahead);
      // Awaited, what is known costs as much as what is not.
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
    ahead: Expected | undefined,
  ): boolean | Promise<boolean> {
    const known =
      ahead?.expected === kept ? (ahead.isCurrent ?? ahead.versions) : this.#compareVersions(kept);
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
    if (use !== 'as it is' && this.#productions.running(key) === undefined)
      return use === 'renew' ? undefined : due;
    this.#count(use === 'renew' ? 'stale' : 'hits', key);
    return use === 'renew' ? new Answer(found.json, found, 'stale', found.seal) : found;
  }

  #await(lookup: Lookup, found: Promise<Found>, ahead: ReadAhead | undefined): Promise<Outcome> {
    const { key, produce, options } = lookup;
    this.#health.watch(lookup);
    // Whoever learns of an outage first gives up the lookups of all; each caller's producer runs in that caller's context.
    const outcome = lookup.promise.then((end) =>
      end === givenUp ? this.#bypass(key, produce, options) : end,
    );
    const take = (value: Found): void => {
      if (ahead === undefined || !this.#isExpected(ahead, value)) return this.#end(lookup, value);
      const { isCurrent, expected } = ahead;
      const decide = (isIt: boolean): void => this.#end(lookup, isIt ? expected : value);
      if (isCurrent !== undefined) return decide(isCurrent);
      ahead.versions.then((now) => decide(areVersionsOf(expected, now)), fail);
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
    // A store of the app may return any object. A promise stays itself.
    Promise.resolve(found).then(take, fail);
    return outcome;
  }

  /** @param found an answer whose tags are known to hold, or what the store has */
  #end(lookup: Lookup, found: Answer | Found): void {
    if (!this.#health.settle(lookup)) return;
    const { key, produce, options } = lookup;
    lookup.resolve(
      found instanceof Answer
        ? this.#use(found, key, produce, options)
        : this.#take(found, key, produce, options),
    );
  }

  #isExpected(ahead: ReadAhead, value: Found): boolean {
    if (typeof value === 'string') {
      if (value === ahead.found) return true;
      if (this.#unsealed.of(ahead.key, value) === ahead.expected) {
        ahead.found = value;
        return true;
      }
    }
    // Later callers expect something else.
    if (this.#ahead === ahead) this.#ahead = undefined;
    return false;
  }

  #take(
    found: Found,
    key: string,
    produce: Producer,
    options: AnswerOptions,
  ): Kept | Promise<Outcome> {
    if (typeof found === 'string') {
      const kept = this.#unsealed.of(key, found);
      if (kept instanceof Answer) return this.#takeAnswer(kept, key, produce, options);
      if (kept !== undefined && !hasToHaveTags(options)) {
        this.#count('hits', key);
        return kept;
      }
      if (kept === undefined) this.#counters.invalid += 1;
    }
    return this.#miss(key, produce, options, typeof found === 'string' ? undefined : '');
  }

  /** @param outdated the end of what was found and does not count; undefined where that is not ours */
  #miss(
    key: string,
    produce: Producer,
    options: AnswerOptions,
    outdated: string | undefined,
  ): Promise<Outcome> {
    const running = this.#productions.running(key);
    if (running !== undefined) return this.#productions.join(running, produce, options);
    return this.#productions.start({ key, produce, options }, 'misses', outdated);
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
    if (this.#productions.running(key) === undefined) {
      if (options.renew !== 'behind' && options.patience === undefined)
        return this.#productions.renew({ key, produce, options }, old);
      return this.#renewBehind({ key, produce, options }, old);
    }
    this.#count(use === 'renew' ? 'stale' : 'hits', key);
    return old;
  }

  #renewBehind(wanted: Wanted, old: Answer): Kept | Promise<Outcome> {
    const { key, options } = wanted;
    const giveOld = (): Answer => {
      this.#count(old.source === 'stale' ? 'stale' : 'hits', key);
      return old;
    };
    const { patience } = options;
    if (patience !== undefined) positiveInteger('patience', patience);
    const produce = options.produceBehind ?? wanted.produce;
    const renewal = this.#renewals.start({ ...wanted, produce }, old);
    if (patience === undefined) return giveOld();
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => resolve(undefined), patience);
    return Promise.race([renewal, promise]).then((outcome) => {
      clearTimeout(timer);
      if (outcome === undefined) return giveOld();
      this.#count('misses', key);
      return outcome;
    });
  }

  /**
   * The versions of the tags that the last value under `key` had, asked for together with the value: mostly that is what is
   * found, and one trip to the store then does for both. Undefined where the versions are known without one.
   */
  #readAhead(key: string): ReadAhead | undefined {
    const { tags } = this.#store;
    if (tags === undefined || tags.epoch !== undefined) return undefined;
    const last = this.#ahead;
    // The text of a key is compared in less time than it is looked up.
    const expected = last?.key === key ? last.expected : this.#unsealed.last(key);
    if (expected === undefined || expected.tags.length === 0) return undefined;
    try {
      const versions = tags.read(expected.tags);
      if (!(versions instanceof Promise)) return undefined;
      if (last?.versions === versions && last.expected === expected) return last;
      const ahead: ReadAhead = { key, expected, versions, isCurrent: undefined, found: undefined };
      versions.then(
        (now) => (ahead.isCurrent = areVersionsOf(expected, now)),
        // Where something else is found, nobody waits for them.
        () => {},
      );
      this.#ahead = ahead;
      return ahead;
    } catch {
      return undefined;
    }
  }

  /**
   * Whether `found` has a head that is not damaged, and the tags that a response made now would have: one of an earlier release may
   * lack some, and an invalidation of those would not reach it.
   */
  #isUsable(found: Answer, options: AnswerOptions): boolean {
    if (!found.isHeadWhole) {
      if (options.isHead?.(found.head) === false) return false;
      found.isHeadWhole = true;
    }
    const tags = namedTagsOf(options);
    // One comparison, where the caller gives the same list each time, as a route does.
    if (tags === undefined || found.hasTagsOf === tags) return true;
    const { tagPrefix } = this.#productions;
    if (!tags.every((tag) => found.tags.includes(tagPrefix + tag))) return false;
    found.hasTagsOf = tags;
    return true;
  }

  /** Whether no tag of `found` was invalidated since. */
  #isCurrent(found: Answer, key: string): boolean | Promise<boolean> {
    const isCurrent = this.#compareVersions(found);
    if (isCurrent instanceof Promise)
      return this.#health
        .withinDeadline(key, isCurrent)
        .then((versions) => this.#countIfNot(areVersionsOf(found, versions)));
    return this.#countIfNot(isCurrent);
  }

  /** The versions of its tags where they have to be asked for. */
  #compareVersions(found: Answer): boolean | Promise<Versions> {
    if (found.tags.length === 0) return true;
    const { tags } = this.#store;
    const epoch = tags?.epoch;
    if (epoch !== undefined && found.currentIn === epoch) return true;
    const now = tags?.read(found.tags) ?? [];
    if (now instanceof Promise) return now;
    const isCurrent = areVersionsOf(found, now as Versions);
    // What had to be asked for may have changed since, unseen.
    if (isCurrent && epoch !== undefined) found.currentIn = epoch;
    return isCurrent;
  }

  #countIfNot(isCurrent: boolean): boolean {
    if (!isCurrent) this.#counters.invalidated += 1;
    return isCurrent;
  }

  /** What the store has under `key`, and may still be given out. */
  async find(key: string): Promise<Kept | undefined> {
    const kept = await this.#find(key);
    this.#count(kept === undefined ? 'misses' : 'hits', key);
    return kept;
  }

  async #find(key: string): Promise<Kept | undefined> {
    if (this.#health.isDown) return undefined;
    try {
      const got = this.#store.get(key);
      const found = got instanceof Object ? await this.#health.withinDeadline(key, got) : got;
      const kept = typeof found === 'string' ? this.#unsealed.of(key, found) : undefined;
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
    const running = this.#productions.running(key);
    if (running !== undefined) return this.#productions.join(running, produce, options);
    return this.#productions.start({ key, produce, options }, 'bypasses', '');
  }
}

function areVersionsOf(found: Answer, now: Versions): boolean {
  const isSame = compareVersions(found.tags, found.versions, now);
  if (isSame === 'softly') found.isOutdated = true;
  return isSame !== false;
}

function namedTagsOf({ tags, leastTags }: AnswerOptions): readonly string[] | undefined {
  return tags === true ? leastTags : tags;
}

/** Whether a text alone, which has no tags, is not enough. */
function hasToHaveTags(options: AnswerOptions): boolean {
  const tags = namedTagsOf(options);
  return tags !== undefined && tags.length > 0;
}
