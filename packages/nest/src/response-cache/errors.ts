export type JsonCacheErrorCode = 'ERR_REDLINE_CACHE_KEY' | 'ERR_REDLINE_CACHE_SERIALIZER';

/** The codes the Nest module adds to those of the cache itself, with the sentence the guide gives for each. */
export const jsonCacheErrorDocs: Readonly<Record<JsonCacheErrorCode, string>> = {
  ERR_REDLINE_CACHE_KEY: '`key` or `identify` returned something other than a string.',
  ERR_REDLINE_CACHE_SERIALIZER:
    'A serializer interceptor of the controller or the app would meet the JSON text of a cached route.',
};

/** An error in how a route uses `@JsonCache`. `code` is stable; the message may change. */
export class JsonCacheError extends Error {
  readonly code: JsonCacheErrorCode;

  constructor(code: JsonCacheErrorCode, message: string) {
    super(message);
    this.name = 'JsonCacheError';
    this.code = code;
  }
}
