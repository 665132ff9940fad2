import type { NestInterceptor, Type } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import type { Class } from './route-plan.ts';

const interceptorsMetadata = '__interceptors__';

export interface Interceptors {
  /** Interceptors that run inside the cache, by name and origin. */
  readonly inside: readonly string[];
  readonly isInFront: boolean;
}

/**
 * Puts the cache in front of other interceptors. Nest runs the interceptors of the app and the controller before those of
 * the method, and their effect on a result belongs to the response. So the cache stands in front of the app's if there are
 * any, otherwise in front of the controller's, and in front of all of a controller that is cached as a whole. It costs the
 * other routes of that app, or of that controller, one interceptor that passes.
 *
 * Called before Nest creates its routes.
 */
export function insertInterceptor(
  controllers: ReadonlyMap<Class, { readonly isWhole: boolean }>,
  config: ApplicationConfig,
  cache: NestInterceptor & { constructor: unknown },
  runOnHits: ReadonlyArray<Type<NestInterceptor>>,
): Map<Class, Interceptors> {
  const runsOnHits = (interceptor: unknown): boolean =>
    runOnHits.some((type) => interceptor === type || interceptor instanceof type);
  const Cache = cache.constructor;
  const ofApp: unknown[] = config.getGlobalInterceptors();
  const firstInside = firstThat(ofApp, runsOnHits);
  const scoped = config.getGlobalRequestInterceptors().map(({ metatype }) => metatype);
  const insideApp = [...ofApp.slice(firstInside), ...scoped];
  if (insideApp.length > 0 && controllers.size > 0) ofApp.splice(firstInside, 0, cache);

  const found = new Map<Class, Interceptors>();
  for (const [controller, { isWhole }] of controllers) {
    const own = (Reflect.getMetadata(interceptorsMetadata, controller) ?? []) as unknown[];
    // A second app in the process finds the cache that the first has added.
    const others = own.filter((interceptor) => interceptor !== Cache);
    const first = insideApp.length > 0 ? 0 : firstThat(others, runsOnHits);
    const insideController = others.slice(first);
    const needsPlace = isWhole || insideController.length > 0;
    if (insideApp.length === 0 && needsPlace) {
      const placed = [...others.slice(0, first), Cache, ...insideController];
      Reflect.defineMetadata(interceptorsMetadata, placed, controller);
    }
    found.set(controller, {
      inside: [
        ...insideApp.map((interceptor) => `${nameOf(interceptor)} of the app`),
        ...insideController.map((interceptor) => `${nameOf(interceptor)} of ${controller.name}`),
      ],
      isInFront: insideApp.length > 0 || own.includes(Cache) || needsPlace,
    });
  }
  return found;
}

function firstThat(
  interceptors: readonly unknown[],
  runsOnHits: (interceptor: unknown) => boolean,
): number {
  const first = interceptors.findIndex((interceptor) => !runsOnHits(interceptor));
  return first === -1 ? interceptors.length : first;
}

function nameOf(interceptor: unknown): string {
  return typeof interceptor === 'function'
    ? interceptor.name
    : ((interceptor as object | undefined)?.constructor.name ?? 'an interceptor');
}
