import { ExpressRoutes, rememberPaths, type ExpressRequest } from './express.ts';
import { noteFastifyRoutes, kRoute, type RoutedRequest } from './fastify.ts';
import { koaRouteOf, rememberContexts, type KoaRequest } from './koa.ts';
import type { RouteTable } from './route-table.ts';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

type AnyRequest = RoutedRequest & ExpressRequest & KoaRequest;

/** Finds the routes of the frameworks that this thread loads from now on. */
export class Routes {
  readonly #table: RouteTable;
  readonly #express: ExpressRoutes;
  readonly #stops: readonly (() => void)[];

  constructor(table: RouteTable) {
    this.#table = table;
    this.#express = new ExpressRoutes(table);
    this.#stops = [
      noteFastifyRoutes(table),
      onModules([
        { required: /(?:^|[/\\])express(?:-\d)?(?:[/\\]index\.js)?$/, use: rememberPaths },
        { required: /(?:^|[/\\])koa(?:[/\\]lib[/\\]application\.js)?$/, use: rememberContexts },
      ]),
    ];
  }

  /** Returns the number of a request's route when its response ends; 0 for none. */
  numberOf(request: object): number {
    const any = request as AnyRequest;
    const noted = any[kRoute];
    if (noted !== undefined) return noted;
    // Express sets the first on each request, and takes it back when nothing in the app handles an error or the URL.
    if (any.baseUrl !== undefined || any.route !== undefined) return this.#express.numberOf(any);
    const matched = koaRouteOf(any);
    return matched === undefined ? 0 : this.#table.numberOf(matched);
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }
}

/** Node publishes it after each `require`, and after an `import` of a CommonJS module. */
interface Required {
  readonly id: string;
  readonly result?: unknown;
}

const CHANNEL = 'tracing:module.require:end';

/**
 * Calls back with the exports of packages as they are loaded.
 *
 * @param packages `required` matches the names under which the main file of a package is loaded
 */
export function onModules(
  packages: readonly { readonly required: RegExp; use(exports: unknown): void }[],
): () => void {
  const listener = (message: unknown): void => {
    const { id, result } = message as Required;
    if (result === undefined) return;
    for (const { required, use } of packages) {
      if (required.test(id)) use(result);
    }
  };
  subscribe(CHANNEL, listener);
  return () => void unsubscribe(CHANNEL, listener);
}
