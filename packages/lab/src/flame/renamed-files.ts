import type { FlameFunction } from './result.ts';

type Named = Pick<FlameFunction, 'name' | 'place'>;

/** Two files that share fewer functions are different files. */
const minSharedNames = 3;

/**
 * Finds the files of a later profile that have another name in an earlier one: each occurs in one of the two only, and they have
 * most functions in common. A bundle has a new hash in its name after every build.
 * @returns the earlier name by the later one
 */
export function renamedFiles(
  before: readonly Named[],
  after: readonly Named[],
): ReadonlyMap<string, string> {
  const earlier = namesByFile(before);
  const later = namesByFile(after);
  const pairs = [...later]
    .filter(([file]) => !earlier.has(file))
    .flatMap(([file, names]) =>
      [...earlier]
        .filter(([other]) => !later.has(other))
        .map(([other, theirs]) => ({ file, other, shared: sharedNames(names, theirs) })),
    )
    .filter(({ shared }) => shared >= minSharedNames)
    .toSorted((a, b) => b.shared - a.shared);
  const renamed = new Map<string, string>();
  const taken = new Set<string>();
  for (const { file, other } of pairs) {
    if (renamed.has(file) || taken.has(other)) continue;
    renamed.set(file, other);
    taken.add(other);
  }
  return renamed;
}

export function fileOf({ place }: Pick<Named, 'place'>): string {
  return place.replace(/:\d+:\d+$/, '');
}

function namesByFile(functions: readonly Named[]): Map<string, Set<string>> {
  const files = new Map<string, Set<string>>();
  for (const each of functions) {
    const file = fileOf(each);
    if (file === '' || each.name === '(anonymous)') continue;
    const names = files.get(file) ?? new Set();
    names.add(each.name);
    files.set(file, names);
  }
  return files;
}

function sharedNames(some: ReadonlySet<string>, others: ReadonlySet<string>): number {
  let shared = 0;
  for (const name of some) if (others.has(name)) shared++;
  return shared;
}
