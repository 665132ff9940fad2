import { type MiddlewareConsumer, RequestMethod } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';

import { announceOf, requestLog, type LoggedResponse } from './logged-response.ts';
import type { LoggerCore } from './logger-core.ts';

type Routes = Parameters<ReturnType<MiddlewareConsumer['apply']>['forRoutes']>;
type Middleware = (request: unknown, response: LoggedResponse, next: () => void) => void;

/**
 * Marks the requests whose responses have no line, or are the only ones that have one: by Nest's own matching, so that
 * prefixes, versions and controllers mean the same as for any middleware. Apps that choose no routes get no middleware.
 */
export function chooseRoutes(
  consumer: MiddlewareConsumer,
  core: LoggerCore,
  config: ApplicationConfig,
): void {
  const { exclude, forRoutes } = core.options.routes;
  if (forRoutes !== undefined) consumer.apply(choose(core, true)).forRoutes(...forRoutes);
  if (exclude !== undefined) {
    // A string given to forRoutes() means everything below it, and given to exclude() only that path.
    const routes = exclude.map((route) =>
      typeof route === 'string' ? { path: route, method: RequestMethod.ALL } : route,
    );
    consumer.apply(choose(core, false)).forRoutes(...routes);
  }
  const announce = announceOf(core, true);
  if (announce === undefined) return;
  const byDefault = forRoutes === undefined;
  const middleware: Middleware = (_request, response, next) => {
    const log = response[requestLog];
    if (log !== undefined && (log.chosen ?? byDefault)) announce(log);
    next();
  };
  consumer.apply(middleware).forRoutes(...everything(config));
}

function choose(core: LoggerCore, chosen: boolean): Middleware {
  return (_request, response, next) => {
    const log = response[requestLog];
    if (log?.root === core.pino) log.chosen = chosen;
    next();
  };
}

/** Returns every route; those excluded from the global prefix have to be named. */
function everything(config: ApplicationConfig): Routes {
  const { exclude = [] } = config.getGlobalPrefixOptions();
  const outside = exclude.map(({ path, requestMethod }) => ({ path, method: requestMethod }));
  return [{ path: '{*path}', method: RequestMethod.ALL }, ...outside];
}
