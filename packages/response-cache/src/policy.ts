/** How callers are distinguished; see `identify` of {@link CachePolicy}. */
export type Identify<Request> =
  | 'public'
  | { readonly header: string }
  | { readonly cookie: string }
  | ((request: Request) => string | undefined);

/** What a response depends on, and how long it is valid: the same words in every framework. */
export interface CachePolicy<Request> {
  /**
   * How long a response is valid, in milliseconds. A function sets it for each response when it is made; with 0 it is
   * not stored.
   * @default the `ttl` of the cache
   */
  ttl?: number | ((request: Request, value: unknown) => number);
  /**
   * How long a response is kept beyond its `ttl`, in milliseconds: one request makes a new one, and all others get the
   * old one meanwhile; so does that request if the handler fails.
   * @default 0
   */
  stale?: number;
  /**
   * If true, one request makes a new response a little before the `ttl` ends: the longer that takes, the earlier
   * (XFetch).
   * @default false
   */
  early?: boolean;
  /** Tags for `invalidate`; a function derives them from the request and the result, when the response is made. */
  tags?: readonly string[] | ((request: Request, value: unknown) => readonly string[]);
  /**
   * The request headers on which a response depends, such as `accept-language`. Those in the `Vary` of a response are
   * added when they occur.
   * @default []
   */
  vary?: readonly string[];
  /**
   * Identifies the caller: `'public'` means that the response is the same for everyone; a header, a cookie or a
   * function names the caller, and each name has its own responses. A request without a name does not use the cache.
   * @default requests with any credentials do not use the cache
   */
  identify?: Identify<Request>;
}
