import * as common from '@nestjs/common';
import {
  ClassSerializerInterceptor,
  RequestMethod,
  VersioningType,
  type ExecutionContext,
} from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import { JsonCacheError } from './errors.ts';
import type { CacheRequest, JsonCacheOptions } from './options.ts';
import type { KeyRules } from './request-key.ts';

export const jsonCacheMetadata = 'redline:json-cache';

/* Nest's own metadata keys: they are in @nestjs/common/internal, which asks not to be imported. */
const metadata = {
  interceptors: '__interceptors__',
  routeArguments: '__routeArguments__',
  passthrough: '__responsePassthrough__',
  render: '__renderTemplate__',
  redirect: '__redirect__',
  sse: '__sse__',
  version: '__version__',
  host: 'host',
  method: 'method',
  path: 'path',
} as const;

export type Class = ReturnType<ExecutionContext['getClass']>;
export type Handler = ReturnType<ExecutionContext['getHandler']>;

/** What is known of a cached route before its first request. */
export interface RoutePlan extends KeyRules {
  readonly ttlMs: number | undefined;
  /** Why the route cannot use the cache. */
  readonly obstacle: string | undefined;
}

/** @throws {JsonCacheError} ERR_REDLINE_CACHE_SERIALIZER */
export function planRoute(
  controller: Class,
  handler: Handler,
  methodName: string,
  config: ApplicationConfig | undefined,
): RoutePlan {
  const options: JsonCacheOptions<CacheRequest> =
    Reflect.getMetadata(jsonCacheMetadata, handler) ?? {};
  const name = routeName(controller, handler, methodName);
  refuseSerializerOutside(name, controller, handler, config);
  const version: unknown =
    Reflect.getMetadata(metadata.version, handler) ??
    Reflect.getMetadata(metadata.version, controller);
  // In the URL already, unless versions are told apart by header, media type or otherwise.
  const isVersionInUrl = config?.getVersioning()?.type === VersioningType.URI;
  return {
    name,
    key: options.key,
    identify: options.identify,
    ttlMs: options.ttl,
    version: version === undefined || isVersionInUrl ? '' : `${String(version)}:`,
    isHostBound: Reflect.getMetadata(metadata.host, controller) !== undefined,
    obstacle: findObstacle(controller, handler, methodName),
  };
}

function findObstacle(controller: Class, handler: Handler, methodName: string): string | undefined {
  const method: unknown = Reflect.getMetadata(metadata.method, handler);
  if (method !== RequestMethod.GET && method !== RequestMethod.ALL) return 'it is no GET route';
  if (Reflect.getMetadata(metadata.sse, handler)) return 'it is an @Sse() stream';
  if (Reflect.getMetadata(metadata.render, handler)) return 'it renders a view';
  if (Reflect.getMetadata(metadata.redirect, handler)) return 'it redirects';
  const args: object = Reflect.getMetadata(metadata.routeArguments, controller, methodName) ?? {};
  // Keys are `${RouteParamtypes}:${index}`; 1 is @Res(), 2 is @Next().
  const takesResponse = Object.keys(args).some(
    (key) => key.startsWith('1:') || key.startsWith('2:'),
  );
  const isPassthrough: unknown = Reflect.getMetadata(metadata.passthrough, controller, methodName);
  return takesResponse && !isPassthrough
    ? 'it takes the response over with @Res() or @Next()'
    : undefined;
}

/* Outside, ClassSerializerInterceptor would meet a string and let it pass: fields under @Exclude() would go out. */
function refuseSerializerOutside(
  name: string,
  controller: Class,
  handler: Handler,
  config: ApplicationConfig | undefined,
): void {
  const inside: unknown[] = Reflect.getMetadata(metadata.interceptors, handler) ?? [];
  const ofController: unknown[] = Reflect.getMetadata(metadata.interceptors, controller) ?? [];
  const ofApp: unknown[] = [
    ...(config?.getGlobalInterceptors() ?? []),
    ...(config?.getGlobalRequestInterceptors() ?? []).map((wrapper) => wrapper.metatype),
  ];
  const outside = [...ofApp, ...ofController].find(isSerializer);
  if (outside === undefined || inside.some(isSerializer)) return;
  const serializer =
    typeof outside === 'function' ? outside.name : (outside as object).constructor.name;
  throw new JsonCacheError(
    'ERR_REDLINE_CACHE_SERIALIZER',
    `${name} is cached as JSON text, which ${serializer} of ${ofController.includes(outside) ? 'its controller' : 'the app'} cannot serialise, so that excluded fields would go out. Put @UseInterceptors(${serializer}) on the method itself, too: interceptors of the method run before the text is made.`,
  );
}

// Nest 11 has the first alone.
const serializers = [ClassSerializerInterceptor, common.StandardSchemaSerializerInterceptor].filter(
  (serializer) => serializer !== undefined,
);

function isSerializer(interceptor: unknown): boolean {
  return serializers.some(
    (serializer) =>
      interceptor === serializer ||
      interceptor instanceof serializer ||
      (typeof interceptor === 'function' && interceptor.prototype instanceof serializer),
  );
}

function routeName(controller: Class, handler: Handler, methodName: string): string {
  const paths = [controller, handler].map((target) =>
    String(Reflect.getMetadata(metadata.path, target) ?? ''),
  );
  const path = paths.map((part) => part.replace(/^\/|\/$/g, '')).filter((part) => part !== '');
  return `GET /${path.join('/')} (${controller.name}.${methodName})`;
}
