import type { CachedRoute } from './protocol.ts';

/** Key of the list in which @redline/response-cache keeps the routes of the process. */
const kRoutes = Symbol.for('redline.cachedRoutes');

interface Listed {
  readonly name: string;
  readonly reads: WeakRef<ReadonlySet<string>>;
}

/** Returns the parts of the request that each cached route has read so far. */
export function cachedRoutes(): readonly CachedRoute[] | undefined {
  const listed = (globalThis as Record<symbol, unknown>)[kRoutes] as readonly Listed[] | undefined;
  if (listed === undefined) return undefined;
  const found = new Map<string, Set<string>>();
  for (const { name, reads } of listed) {
    const known = found.get(name) ?? new Set();
    for (const each of reads.deref() ?? []) known.add(each);
    found.set(name, known);
  }
  return [...found].map(([route, reads]) => ({ route, reads: [...reads].toSorted() }));
}
