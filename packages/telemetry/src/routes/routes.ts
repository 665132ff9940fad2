import { ExpressRoutes, rememberPaths, type ExpressRequest } from './express.ts';
import { noteFastifyRoutes } from './fastify.ts';
import { koaRouteOf, rememberContexts, type KoaRequest } from './koa.ts';
import { onModules } from './modules.ts';
import type { RouteTable } from './route-table.ts';
import { kRoute, type RoutedRequest } from './routed-request.ts';

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
    // Express sets it on each request.
    if (any.baseUrl !== undefined) return this.#express.numberOf(any);
    const matched = koaRouteOf(any);
    return matched === undefined ? 0 : this.#table.numberOf(matched);
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }
}
