import { Answer, areVersionsOf } from '../answer/answer.ts';
import type { DecodedEntries } from '../answer/decoded-entries.ts';
import type { Found, JsonStore } from '../store/json-store.ts';
import type { Versions } from '../store/tag-versions.ts';

/** The value expected under a key, and the pending versions of its tags. */
export interface TagPrefetch {
  readonly key: string;
  readonly expected: Answer;
  readonly versions: Promise<Versions>;
  /** True if the versions are those of `expected`; undefined until they have arrived. */
  isCurrent: boolean | undefined;
  /** The text found that is `expected`: the callers of one turn get the same text, and compare it once. */
  found: string | undefined;
}

/** Reads the versions of tags together with a value, before the value arrives: its tags are expected to be those it had last. */
export class TagPrefetcher {
  readonly #store: JsonStore;
  readonly #decoded: DecodedEntries;
  /* The one of the previous hit, which usually is under the same key and in the same turn. */
  #last: TagPrefetch | undefined;

  constructor(store: JsonStore, decoded: DecodedEntries) {
    this.#store = store;
    this.#decoded = decoded;
  }

  /** Starts a read; returns undefined if the store has the versions in memory, or the last value under `key` had no tags. */
  start(key: string): TagPrefetch | undefined {
    const { tags } = this.#store;
    if (tags === undefined || tags.epoch !== undefined) return undefined;
    const last = this.#last;
    // Comparing the text of a key takes less time than looking it up.
    const expected = last?.key === key ? last.expected : this.#decoded.last(key);
    if (expected === undefined || expected.tags.length === 0) return undefined;
    try {
      const versions = tags.read(expected.tags);
      if (!(versions instanceof Promise)) return undefined;
      if (last?.versions === versions && last.expected === expected) return last;
      const prefetch: TagPrefetch = {
        key,
        expected,
        versions,
        isCurrent: undefined,
        found: undefined,
      };
      versions.then(
        (now) => (prefetch.isCurrent = areVersionsOf(expected, now)),
        // If another value is found, the versions are not used.
        () => {},
      );
      this.#last = prefetch;
      return prefetch;
    } catch {
      return undefined;
    }
  }

  isExpected(prefetch: TagPrefetch, value: Found): boolean {
    if (typeof value === 'string') {
      if (value === prefetch.found) return true;
      if (this.#decoded.of(prefetch.key, value) === prefetch.expected) {
        prefetch.found = value;
        return true;
      }
    }
    // Later callers expect something else.
    if (this.#last === prefetch) this.#last = undefined;
    return false;
  }
}
