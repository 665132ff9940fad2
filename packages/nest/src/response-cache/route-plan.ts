import {
  Logger,
  RequestMethod,
  VERSION_NEUTRAL,
  VersioningType,
  type ExecutionContext,
  type VersioningOptions,
} from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';
import type { CacheRequest, JsonCache } from '@redline/response-cache';
import { cachedRoute, type CachedRoute } from '@redline/response-cache/route';
import type { JsonCacheModuleOptions, RouteCachePolicy } from './options.ts';

export const jsonCacheMetadata = 'redline:json-cache';
/** Key of the handler itself: Nest copies the metadata of a handler to the function that it registers for it. */
export const handlerMetadata = 'redline:json-cache:handler';

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
  httpCode: '__httpCode__',
  headers: '__headers__',
  method: 'method',
  path: 'path',
} as const;

export type Class = ReturnType<ExecutionContext['getClass']>;
export type Handler = ReturnType<ExecutionContext['getHandler']>;

/** A cached route, as known before its first request. */
export interface RoutePlan extends CachedRoute {
  /** The reason why the route cannot use the cache. */
  readonly obstacle: string | undefined;
  /** True if the cache also stands in front of interceptors of the app or the controller. */
  readonly isInFront: boolean;
  /** Guards that would not run if hits were served above the handler. */
  readonly skippedGuards: readonly string[];
  /** The reason why hits cannot be served above the handler; undefined if they can. */
  readonly noHook: string | undefined;
  /** The status that Nest sets on the response ahead of the handler. */
  readonly status: number;
  readonly ownHeaders: readonly OwnHeader[];
}

interface OwnHeader {
  readonly name: string;
  readonly value: string | (() => string);
}

/** A method of a controller that is a route, and its cache policy. */
export interface CachedMethod {
  /** The controller: a subclass has the methods of its parent, too. */
  readonly type: Class;
  readonly handler: Handler;
  readonly methodName: string;
  readonly policy: RouteCachePolicy<CacheRequest>;
}

/** Settings of the app for all its routes. */
export interface AppCaching {
  readonly options: JsonCacheModuleOptions;
  readonly config: ApplicationConfig | undefined;
}

export function planRoute(
  { type: controller, handler, methodName, policy }: CachedMethod,
  cache: JsonCache,
  { options, config }: AppCaching,
  isInFront: boolean,
): RoutePlan {
  const name = routeName(controller, handler, methodName);
  const isHostBound = Reflect.getMetadata(metadata.host, controller) !== undefined;
  const guards = guardsOf(controller, handler, config);
  const defaults = { ...options };
  // A path of one host may also be that of another controller on another host.
  if (isHostBound && options.hosts === 'any') delete defaults.hosts;
  const version = versionKey(controller, handler, config?.getVersioning());
  const warn = (line: string): void => new Logger('JsonCache').warn(line);
  const ofHits = options.runOnHits?.map((interceptor) => interceptor.name) ?? [];
  return {
    ...cachedRoute(name, policy, { cache, defaults, warn }),
    key: policy.key ?? options.trackBy,
    version,
    versionHeaders: version === '' ? [] : versionHeadersOf(config?.getVersioning()),
    obstacle:
      findObstacle(controller, handler, methodName) ??
      (policy.identify === undefined ? findGuard(guards) : undefined),
    isInFront,
    skippedGuards: guards.map((guard) => guard.name),
    noHook: isHostBound
      ? 'its controller is bound to a host'
      : ofHits.length > 0
        ? `${ofHits.join(', ')} of runOnHits has to see each request`
        : undefined,
    status: Reflect.getMetadata(metadata.httpCode, handler) ?? 200,
    ownHeaders: Reflect.getMetadata(metadata.headers, handler) ?? [],
  };
}

/** Returns the version for the key; empty if the URL has it, instead of a header, the media type or another part. */
function versionKey(
  controller: Class,
  handler: Handler,
  versioning: VersioningOptions | undefined,
): RoutePlan['version'] {
  const version: unknown =
    Reflect.getMetadata(metadata.version, handler) ??
    Reflect.getMetadata(metadata.version, controller) ??
    versioning?.defaultVersion;
  if (version === undefined || versioning === undefined) return '';
  if (versioning.type === VersioningType.URI) return '';
  if (!Array.isArray(version) && version !== VERSION_NEUTRAL) return String(version);
  // One handler for several versions may tell them apart itself.
  const asked = versionAsked(versioning);
  return asked;
}

function versionHeadersOf(versioning: VersioningOptions | undefined): string[] {
  if (versioning?.type === VersioningType.HEADER) return [versioning.header.toLowerCase()];
  return versioning?.type === VersioningType.MEDIA_TYPE ? ['accept'] : [];
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

/* Guards that count requests, and decide nothing about access. */
const guardsOfNobody = new Set(['ThrottlerGuard']);

function guardsOf(
  controller: Class,
  handler: Handler,
  config: ApplicationConfig | undefined,
): Function[] {
  const guards: unknown[] = [
    ...(config?.getGlobalGuards() ?? []),
    ...(config?.getGlobalRequestGuards() ?? []).map(({ metatype }) => metatype),
    ...(Reflect.getMetadata(metadata.guards, controller) ?? []),
    ...(Reflect.getMetadata(metadata.guards, handler) ?? []),
  ];
  return guards.map((guard) =>
    typeof guard === 'function' ? guard : (guard as object).constructor,
  );
}

function findGuard(guards: readonly Function[]): string | undefined {
  const name = guards.find(
    (guard) => !classNames(guard).some((each) => guardsOfNobody.has(each)),
  )?.name;
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

export function isRoute(handler: Handler): boolean {
  return Reflect.hasMetadata(metadata.path, handler);
}

/** Returns true if a policy of its controller or its app applies to it, too. */
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
