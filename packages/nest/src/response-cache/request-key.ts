import { JsonCacheError } from './errors.ts';
import type { CacheRequest, Identify } from './options.ts';

export interface KeyRules {
  readonly name: string;
  readonly key: string | ((request: CacheRequest) => string) | undefined;
  readonly identify: Identify<CacheRequest> | undefined;
  /** Put before the URL where several handlers answer one. */
  readonly version: string;
  readonly isHostBound: boolean;
}

/** The key of the answer to `request`; undefined when the answer may not be shared. */
export function requestKey(request: CacheRequest, rules: KeyRules): string | undefined {
  const { identify } = rules;
  if (identify === undefined) {
    return carriesCredentials(request) ? undefined : callerKey(resourceKey(request, rules));
  }
  if (identify === 'public') return callerKey(resourceKey(request, rules));
  const caller: unknown = identify(request);
  if (caller === undefined || caller === '') return undefined;
  if (typeof caller !== 'string') throw notAString('identify', rules.name, caller);
  return callerKey(resourceKey(request, rules), caller);
}

/*
 * The length makes it impossible to forge: a caller who chooses what is in the key or in his own name cannot
 * reach what belongs to another.
 */
export function callerKey(resource: string, caller?: string): string {
  return caller === undefined ? `public:${resource}` : `${caller.length}:${caller}:${resource}`;
}

function resourceKey(request: CacheRequest, rules: KeyRules): string {
  const { key } = rules;
  if (key === undefined) {
    const url = rules.version + request.originalUrl;
    return rules.isHostBound ? `${request.hostname}${url}` : url;
  }
  if (typeof key === 'string') return key;
  const made: unknown = key(request);
  if (typeof made !== 'string') throw notAString('key', rules.name, made);
  return made;
}

function carriesCredentials({ headers, user }: CacheRequest): boolean {
  return (
    headers.authorization !== undefined ||
    headers.cookie !== undefined ||
    (user ?? undefined) !== undefined
  );
}

function notAString(option: 'key' | 'identify', name: string, made: unknown): JsonCacheError {
  return new JsonCacheError(
    'ERR_REDLINE_CACHE_KEY',
    `The option ${option} of @JsonCache on ${name} must return a string, and returned ${made === null ? 'null' : `a value of type ${typeof made}`}.`,
  );
}
