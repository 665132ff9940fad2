/*
 * A response with `stale` has two names for each of its tags. `invalidate` gives both a new version, and with `soft` the first
 * one alone: the response is then outdated, and may be sent within `stale`. What has the first name alone is gone by both.
 */
const hardSuffix = ':redline-hard';

/** The name that only an invalidation without `soft` changes. */
export function hardNameOf(tag: string): string {
  return tag + hardSuffix;
}

/** Whether a response with these versions may still be sent; `'softly'` if only within `stale`. */
export function compareVersions(
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
