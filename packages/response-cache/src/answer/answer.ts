/** The facts of a response besides its text. */
export interface AnswerFacts {
  /** The `head` from the producer; empty if it gave none. */
  readonly head: string;
  /** When it was made, in milliseconds since 1970. */
  readonly madeAt: number;
  /** Time it stays fresh from `madeAt` on, in milliseconds. */
  readonly freshMs: number;
  /** Duration of the producer's run, in milliseconds. */
  readonly costMs: number;
  readonly tags: readonly string[];
  /** The versions of its tags when it was made: a tag with another version now has been invalidated since. */
  readonly versions: readonly number[];
}

/** A response that is more than its text: it has a head or tags, is kept beyond its ttl, or says when it was made. */
export class Answer implements AnswerFacts {
  readonly json: string;
  readonly head: string;
  readonly madeAt: number;
  readonly freshMs: number;
  readonly costMs: number;
  readonly tags: readonly string[];
  readonly versions: readonly number[];
  /** `'made'` if its producer ran for this caller or one it waited with, otherwise the state of the stored value. */
  readonly source: 'made' | 'fresh' | 'stale';
  /** The end of the stored value, which is unique; empty for a response that is not stored. */
  readonly seal: string;
  /** The epoch of the tags in which it was last found current. @internal */
  currentIn: number | undefined;
  /** True once one of its tags was invalidated softly. @internal */
  isOutdated: boolean;
  /** True once its head was found to be valid. @internal */
  isHeadWhole: boolean;
  /** The list of tags that it was last found to have. @internal */
  hasTagsOf: readonly string[] | undefined;

  constructor(json: string, facts: AnswerFacts, source: Answer['source'], seal = '') {
    this.json = json;
    this.head = facts.head;
    this.madeAt = facts.madeAt;
    this.freshMs = facts.freshMs;
    this.costMs = facts.costMs;
    this.tags = facts.tags;
    this.versions = facts.versions;
    this.source = source;
    this.seal = seal;
    this.currentIn = undefined;
    this.hasTagsOf = undefined;
    this.isOutdated = false;
    this.isHeadWhole = facts.head === '';
  }
}

export interface SharedDetails {
  /**
   * The part of the response besides its text, such as status and headers, in one line of text. It is stored with the
   * text, and every caller gets an {@link Answer} with both.
   */
  head?: string | undefined;
  /**
   * Lifetime of this response in milliseconds; with 0 it goes to the waiting callers and is not stored.
   * @default the `ttl` of the call
   */
  ttl?: number | undefined;
  /** Tags for `invalidate`, in addition to the `tags` of the call, which must be an array or true. */
  tags?: readonly string[] | undefined;
  /**
   * The JSON of the value, if the producer has made it already.
   * @default the result of `serialize`
   */
  json?: string | undefined;
}

/** The result of {@link shared}. */
export class Shared {
  readonly value: unknown;
  readonly details: SharedDetails;

  constructor(value: unknown, details: SharedDetails) {
    this.value = value;
    this.details = details;
  }
}

/**
 * Returns a response with more than its value.
 *
 * @example
 * ```ts
 * const answer = await cache.answer('/articles', async () => {
 *   const { articles, total } = await load();
 *   return shared(articles, { head: String(total), ttl: total === 0 ? 1_000 : 60_000 });
 * });
 * ```
 */
export function shared(value: unknown, details: SharedDetails): Shared {
  return new Shared(value, details);
}

/*
 * A response with `stale` has two names for each of its tags. `invalidate` gives both a new version, with `soft` only the first:
 * the response is then outdated, and may be sent within `stale`. Either one removes a response that has only the first name.
 */
const hardSuffix = ':redline-hard';

/** Returns the name whose version only an invalidation without `soft` changes. */
export function hardNameOf(tag: string): string {
  return tag + hardSuffix;
}

/** Returns true if a response with these versions may still be sent; `'softly'` if only within `stale`. */
function compareVersions(
  tags: readonly string[],
  versions: readonly number[],
  now: readonly (number | undefined)[],
): boolean | 'softly' {
  let isSame: boolean | 'softly' = true;
  for (let at = 0; at < versions.length; at++) {
    if (versions[at] === now[at]) continue;
    const tag = tags[at]!;
    if (tag.endsWith(hardSuffix) || !tags.includes(hardNameOf(tag))) return false;
    isSame = 'softly';
  }
  return isSame;
}

/** Returns true if no tag of `found` was invalidated since it was made; after a soft invalidation, marks `found` as outdated. */
export function areVersionsOf(found: Answer, now: readonly (number | undefined)[]): boolean {
  const isSame = compareVersions(found.tags, found.versions, now);
  if (isSame === 'softly') found.isOutdated = true;
  return isSame !== false;
}
