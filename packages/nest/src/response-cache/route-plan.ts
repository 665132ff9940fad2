import {
  Logger,
  RequestMethod,
  VERSION_NEUTRAL,
  VersioningType,
  type ExecutionContext,
  type VersioningOptions,
} from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import type { JsonCache } from '@redline/response-cache';
import type {
  CacheHeader,
  CacheRequest,
  JsonCacheModuleOptions,
  RouteCachePolicy,
} from './options.ts';
import type { KeyRules } from './request-key.ts';

export const jsonCacheMetadata = 'redline:json-cache';

/* Nest's own metadata keys: they are in @nestjs/common/internal, which asks not to be imported. */
const metadata = {
  guards: '__guards__',
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
  readonly cache: JsonCache;
  readonly ttl: RouteCachePolicy<CacheRequest>['ttl'];
  readonly stale: number | undefined;
  readonly early: boolean | undefined;
  readonly tags: RouteCachePolicy<CacheRequest>['tags'];
  readonly headers: ReadonlySet<CacheHeader>;
  /** Why the route cannot use the cache. */
  readonly obstacle: string | undefined;
  /** True where the cache stands in front of interceptors of the app or the controller, too. */
  readonly isInFront: boolean;
  /** Logs why an answer is not kept, once for each reason. */
  warnOnce(reason: string): undefined;
}

export function planRoute(
  controller: Class,
  handler: Handler,
  methodName: string,
  policy: RouteCachePolicy<CacheRequest>,
  cache: JsonCache,
  options: JsonCacheModuleOptions,
  config: ApplicationConfig | undefined,
  isInFront: boolean,
): RoutePlan {
  const name = routeName(controller, handler, methodName);
  const isHostBound = Reflect.getMetadata(metadata.host, controller) !== undefined;
  const warned = new Set<string>();
  return {
    name,
    key: policy.key ?? options.trackBy,
    identify: policy.identify,
    cookies: policy.cookies ?? options.cookies ?? 'private',
    query: policy.query === undefined ? undefined : new Set(policy.query),
    vary: (policy.vary ?? []).map((header) => header.toLowerCase()),
    hosts: isHostBound && options.hosts === 'any' ? undefined : options.hosts,
    cache,
    ttl: policy.ttl,
    stale: policy.stale,
    early: policy.early,
    tags: policy.tags,
    headers: new Set(options.headers),
    version: versionKey(controller, handler, config?.getVersioning()),
    obstacle:
      findObstacle(controller, handler, methodName) ??
      (policy.identify === undefined ? findGuard(controller, handler, config) : undefined),
    isInFront,
    warnOnce(reason) {
      if (warned.has(reason)) return;
      warned.add(reason);
      new Logger('JsonCache').warn(`A response of ${name} goes out uncached: ${reason}.`);
    },
  };
}

/** In the URL already, unless versions are distinguished by header, media type or otherwise. */
function versionKey(
  controller: Class,
  handler: Handler,
  versioning: VersioningOptions | undefined,
): KeyRules['version'] {
  const version: unknown =
    Reflect.getMetadata(metadata.version, handler) ??
    Reflect.getMetadata(metadata.version, controller) ??
    versioning?.defaultVersion;
  if (version === undefined || versioning === undefined) return '';
  if (versioning.type === VersioningType.URI) return '';
  if (!Array.isArray(version) && version !== VERSION_NEUTRAL) return `${String(version)}:`;
  // One handler for several versions may tell them apart itself.
  const asked = versionAsked(versioning);
  return (request) => `${asked(request)}:`;
}

function versionAsked(versioning: VersioningOptions): (request: CacheRequest) => string {
  switch (versioning.type) {
    case VersioningType.HEADER: {
      const name = versioning.header.toLowerCase();
      return ({ headers }) => JSON.stringify(headers[name] ?? null);
    }
    case VersioningType.MEDIA_TYPE:
      return ({ headers }) => JSON.stringify(headers.accept ?? null);
    case VersioningType.CUSTOM:
      return (request) => JSON.stringify(versioning.extractor(request));
    default:
      return () => '';
  }
}

/* They count requests, and let everybody pass. */
const guardsOfNobody = new Set(['ThrottlerGuard']);

function findGuard(
  controller: Class,
  handler: Handler,
  config: ApplicationConfig | undefined,
): string | undefined {
  const guards: unknown[] = [
    ...(config?.getGlobalGuards() ?? []),
    ...(config?.getGlobalRequestGuards() ?? []).map(({ metatype }) => metatype),
    ...(Reflect.getMetadata(metadata.guards, controller) ?? []),
    ...(Reflect.getMetadata(metadata.guards, handler) ?? []),
  ];
  const name = guards
    .map((guard) => (typeof guard === 'function' ? guard : (guard as object).constructor))
    .find((guard) => !classNames(guard).some((each) => guardsOfNobody.has(each)))?.name;
  return name === undefined
    ? undefined
    : `${name} decides who has access, and nothing says whose the responses are. Set identify to 'public' if everyone with access gets the same response, otherwise to a header, a cookie or a function that names the caller`;
}

function classNames(of: Function): string[] {
  const names: string[] = [];
  for (let each: Function = of; each?.name; each = Object.getPrototypeOf(each))
    names.push(each.name);
  return names;
}

/** Whether the method is an HTTP route at all. */
export function isRoute(handler: Handler): boolean {
  return Reflect.hasMetadata(metadata.path, handler);
}

/** Whether a policy of its controller or its app is meant for it, too. */
export function isGetRoute(handler: Handler): boolean {
  return isRoute(handler) && Reflect.getMetadata(metadata.method, handler) === RequestMethod.GET;
}

function findObstacle(controller: Class, handler: Handler, methodName: string): string | undefined {
  const method: unknown = Reflect.getMetadata(metadata.method, handler);
  if (method !== RequestMethod.GET && method !== RequestMethod.ALL) return 'it is not a GET route';
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

function routeName(controller: Class, handler: Handler, methodName: string): string {
  const paths = [controller, handler].map((target) =>
    String(Reflect.getMetadata(metadata.path, target) ?? ''),
  );
  const path = paths.map((part) => part.replace(/^\/|\/$/g, '')).filter((part) => part !== '');
  return `GET /${path.join('/')} (${controller.name}.${methodName})`;
}
