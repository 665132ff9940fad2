import {
  aBoolean,
  checkValues,
  isFunction,
  isListOf,
  isText,
  names,
  oneOf,
  wrongValue,
  type Check,
  checkTags,
  refuseUnknown,
} from '../validate.ts';
import { checkCompress } from '../encoding/compress-options.ts';
import type { CachePolicy } from './policy.ts';
import type { CacheRequest } from './cached-route.ts';

const checks: Readonly<Record<keyof CachePolicy<unknown>, Check | undefined>> = {
  ttl: undefined,
  stale: undefined,
  early: aBoolean,
  renew: oneOf('behind'),
  patience: undefined,
  tags: {
    isValid: (value) => isFunction(value) || isListOf(value, isText),
    wanted: 'a list of strings, or a function that returns one',
  },
  vary: names,
  identify: {
    isValid: (value) => value === 'public' || isFunction(value) || namesOne(value),
    wanted: "'public', { header: name }, { cookie: name } or a function that names the caller",
  },
  key: {
    isValid: (value) => isText(value) || isFunction(value),
    wanted: 'a string, or a function that returns one',
  },
  query: names,
  cookies: oneOf('ignore', 'private'),
  reads: oneOf('ignored', 'observed'),
  compress: undefined,
  at: oneOf('engine', 'hook', 'handler'),
  guards: oneOf('skipped'),
};

const headers = ['x-cache', 'age', 'etag'];
const defaults: Readonly<Record<string, Check>> = {
  hosts: {
    isValid: (value) => value === 'any' || isListOf(value, isText),
    wanted: "'any' or a list of hosts",
  },
  cookies: oneOf('ignore', 'private'),
  reads: oneOf('ignored', 'observed'),
  headers: {
    isValid: (value) => isListOf(value, (each) => headers.includes(each as string)),
    wanted: `a list of ${headers.join(', ')}`,
  },
};

/**
 * Refuses unknown options, because a misspelt one would silently have its default, and invalid values.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
 */
export function checkPolicy(
  of: string,
  policy: CachePolicy<any>,
  alsoKnown: Readonly<Record<string, Check>> = {},
): void {
  const known = { ...checks, ...alsoKnown };
  refuseUnknown(of, policy, known);
  if (typeof policy.ttl !== 'function') checkTtl(policy.ttl);
  if (policy.stale !== 0) checkTtl(policy.stale, 'stale');
  checkTtl(policy.patience, 'patience');
  const renews = policy.renew !== undefined || policy.patience !== undefined;
  if (renews && !policy.stale && policy.early !== true)
    throw wrongValue(`stale of ${of}`, 'above 0, because it has renew or patience', policy.stale);
  checkCompress(of, policy.compress);
  checkValues(of, policy, known);
}

/**
 * Checks the options for all routes.
 *
 * @throws {CacheError} ERR_REDLINE_CACHE_OPTION
 */
export function checkRouteDefaults(of: string, options: object): void {
  checkCompress(of, (options as { compress?: unknown }).compress);
  checkValues(of, options, defaults);
}

/** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
export function checkTtl(ttl: number | undefined, name = 'ttl'): number | undefined {
  if (ttl === undefined || (Number.isSafeInteger(ttl) && ttl > 0)) return ttl;
  throw wrongValue(name, 'a whole number of milliseconds above 0', ttl);
}

function namesOne(value: unknown): boolean {
  const { header, cookie } = (value ?? {}) as { header?: unknown; cookie?: unknown };
  return isText(header) !== isText(cookie);
}

/** Decisions of a handler about the response it makes, in addition to its policy. */
export interface CacheDecision {
  /** Lifetime of the response, in milliseconds; with 0 it is not stored. */
  ttl?: number;
  /** Additional tags, on a route whose policy has `tags`. */
  tags?: readonly string[];
}

const decisions = new WeakMap<object, CacheDecision>();

/** @throws {CacheError} ERR_REDLINE_CACHE_OPTION */
export function decide(request: object, decision: CacheDecision): void {
  refuseUnknown('decide', decision, { ttl: true, tags: true });
  if (decision.ttl !== 0) checkTtl(decision.ttl);
  checkTags('decide', decision.tags);
  decisions.set(request, { ...decisions.get(request), ...decision });
}

export function decisionOn(request: CacheRequest): CacheDecision | undefined {
  return decisions.get(request);
}
