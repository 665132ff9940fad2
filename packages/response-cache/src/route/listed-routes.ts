/** What `redline doctor` reads in the process of the app: the cached routes, and what their responses depend on. */
interface ListedRoute {
  readonly name: string;
  readonly reads: WeakRef<ReadonlySet<string>>;
}

const kRoutes = Symbol.for('redline.cachedRoutes');

/** Lists a route for as long as something else holds `reads`. */
export function listRoute(name: string, reads: ReadonlySet<string>): void {
  const listed = ((globalThis as Record<symbol, unknown>)[kRoutes] ??= []) as ListedRoute[];
  listed.push({ name, reads: new WeakRef(reads) });
}
