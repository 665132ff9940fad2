/** Meaning of each code, the same as in README.md. */
export const cacheErrorDocs = {
  ERR_REDLINE_CACHE_OPTION: 'An option is unknown or has an invalid value.',
  ERR_REDLINE_CACHE_NOT_JSON: 'What the producer returned cannot be cached as JSON.',
  ERR_REDLINE_CACHE_KEY: 'A key or a caller is not a string, or a key lacks its host.',
  ERR_REDLINE_CACHE_GUARD: '`at` is above a guard, which would not run on hits.',
  ERR_REDLINE_CACHE_STORE_NOT_READY: 'The client of the store is not connected.',
  ERR_REDLINE_CACHE_STORE_TIMEOUT: 'The store did not respond within `timeoutMs`.',
  ERR_REDLINE_CACHE_STORE_DOWN: 'The key could not be deleted, because the store is down.',
} as const;

export type CacheErrorCode = keyof typeof cacheErrorDocs;

/** An error of the cache itself. `code` is stable; the message may change. */
export class CacheError extends Error {
  override readonly name = 'CacheError';
  readonly code: CacheErrorCode;

  constructor(code: CacheErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
