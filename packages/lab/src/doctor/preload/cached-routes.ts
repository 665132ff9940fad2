import type { CachedRoute } from './protocol.ts';

/** Here @redline/response-cache lists the routes of the process. */
const kRoutes = Symbol.for('redline.cachedRoutes');

interface Listed {
  readonly name: string;
  readonly reads: WeakRef<ReadonlySet<string>>;
}

/** What each cached route has read of its requests so far. */
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
