/** Meaning of the codes that the module adds to those of the cache, the same as in docs/guide/json-cache.md. */
export const jsonCacheErrorDocs = {
  ERR_REDLINE_CACHE_MODULE: '`JsonCacheModule` is missing, or imported more than once.',
  ERR_REDLINE_CACHE_PLACE: '`@JsonCache` is on something other than an HTTP route.',
} as const;

export type JsonCacheErrorCode = keyof typeof jsonCacheErrorDocs;

/** A wrong use of the cache by an app. `code` is stable; the message may change. */
export class JsonCacheError extends Error {
  override readonly name = 'JsonCacheError';
  readonly code: JsonCacheErrorCode;

  constructor(code: JsonCacheErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
