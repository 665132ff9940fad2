import type { App } from '../../app/app.ts';
import type { Code } from '../../syntax/files.ts';
import { globalGuard, guardOf } from './guards.ts';
import { globalInterceptor, interceptorOf, middlewareOf } from './in-front.ts';
import { firstOf } from './names.ts';
import { routesAt } from './nest-routes.ts';
import { parameterOf, readOf } from './readers.ts';

/**
 * Why a cached route of Nest may send something that is of one caller only: a guard decides who gets it, something in front
 * of it knows who calls, or it is made from the request. Undefined where the code shows none of it.
 * @param place The decorator of a route or of a controller, or anything else for all routes of the app.
 */
export function ofOneCaller(app: App, place: Code): string | undefined {
  return (
    globalGuard(app) ??
    middlewareOf(app) ??
    globalInterceptor(app) ??
    firstOf(
      routesAt(app, place),
      (route) =>
        guardOf(app, route) ??
        interceptorOf(app, route) ??
        parameterOf(route) ??
        readOf(app, route),
    )
  );
}
