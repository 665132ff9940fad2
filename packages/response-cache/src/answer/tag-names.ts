import type { Answer } from './answer.ts';

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
