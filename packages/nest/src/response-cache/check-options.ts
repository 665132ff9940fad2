import {
  aFunction,
  aLogger,
  anObject,
  aText,
  checkRouteDefaults,
  checkTtl,
  checkValues,
  isFunction,
  isListOf,
  type Check,
} from '@redline/response-cache/route';
import {
  checkPolicy,
  refuseUnknown,
  type JsonCacheModuleAsyncOptions,
  type JsonCacheModuleOptions,
  type NamedCacheOptions,
} from './options.ts';

const known: Readonly<Record<keyof JsonCacheModuleOptions, true>> = {
  store: true,
  ttl: true,
  keyPrefix: true,
  timeoutMs: true,
  logger: true,
  hosts: true,
  cookies: true,
  reads: true,
  trackBy: true,
  runOnHits: true,
  headers: true,
  compress: true,
  everyRoute: true,
  caches: true,
};

const ownOptions: Readonly<Record<keyof NamedCacheOptions, true>> = {
  store: true,
  ttl: true,
  keyPrefix: true,
  timeoutMs: true,
};

const values: Readonly<Record<string, Check>> = {
  keyPrefix: aText,
  logger: aLogger,
  trackBy: aFunction('that returns a key'),
  runOnHits: {
    isValid: (value) => isListOf(value, isFunction),
    wanted: 'a list of classes of interceptors',
  },
  caches: { ...anObject, wanted: 'an object with the options of a cache under each name' },
};

const asyncOptions: Readonly<Record<keyof JsonCacheModuleAsyncOptions, true>> = {
  imports: true,
  inject: true,
  useFactory: true,
  useClass: true,
  useExisting: true,
};

/** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
export function checkAsyncOptions(options: JsonCacheModuleAsyncOptions): void {
  refuseUnknown('JsonCacheModule.forRootAsync', options, asyncOptions);
  const { useFactory } = options;
  const useFactoryCheck = aFunction('that returns the options');
  checkValues('JsonCacheModule.forRootAsync', { useFactory }, { useFactory: useFactoryCheck });
}

/** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
export function checkOptions(options: JsonCacheModuleOptions): void {
  refuseUnknown('JsonCacheModule', options, known);
  checkRouteDefaults('JsonCacheModule', options);
  checkValues('JsonCacheModule', options, values);
  checkLimits(options);
  if (options.everyRoute !== undefined)
    checkPolicy('everyRoute of JsonCacheModule', options.everyRoute);
  for (const [name, own] of Object.entries(options.caches ?? {})) {
    refuseUnknown(`the cache ${name}`, own, ownOptions);
    checkValues(`the cache ${name}`, own, values);
    checkLimits(own, ` of the cache ${name}`);
  }
}

function checkLimits({ ttl, timeoutMs }: NamedCacheOptions, of = ''): void {
  checkTtl(ttl, `ttl${of}`);
  checkTtl(timeoutMs, `timeoutMs${of}`);
}
