/** A cached route and the reads that its responses depend on, as `redline doctor` reads them in the process of the app. */
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
