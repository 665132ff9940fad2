import type { App } from '../../app/app.ts';
import type { Code } from '../../syntax/files.ts';
import { globalGuard, guardOf } from './guards.ts';
import { globalInterceptor, interceptorOf, middlewareOf } from './before-handler.ts';
import { firstOf } from './names.ts';
import { routesAt } from './nest-routes.ts';
import { parameterOf, readOf } from './readers.ts';

/**
 * Explains why a cached route of Nest may send data of a single caller: a guard restricts access, code in front of it depends on
 * the caller, or it is computed from the request. Undefined if the code shows none of these.
 * @param place The decorator of a route or of a controller, or any other node for all routes of the app.
 */
export function callerDependence(app: App, place: Code): string | undefined {
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
