export type JsonCacheErrorCode = 'ERR_REDLINE_CACHE_MODULE' | 'ERR_REDLINE_CACHE_PLACE';

/** The codes the Nest module adds to those of the cache itself, with the sentence the guide gives for each. */
export const jsonCacheErrorDocs: Readonly<Record<JsonCacheErrorCode, string>> = {
  ERR_REDLINE_CACHE_MODULE: '`JsonCacheModule` is missing, or imported more than once.',
  ERR_REDLINE_CACHE_PLACE: '`@JsonCache` is on something other than an HTTP route.',
};

/** An error in how an app uses the cache. `code` is stable; the message may change. */
export class JsonCacheError extends Error {
  readonly code: JsonCacheErrorCode;

  constructor(code: JsonCacheErrorCode, message: string) {
    super(message);
    this.name = 'JsonCacheError';
    this.code = code;
  }
}
