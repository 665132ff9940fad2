/** How callers are distinguished; see `identify` of {@link CachePolicy}. */
export type Identify<Request> =
  | 'public'
  | { readonly header: string }
  | { readonly cookie: string }
  | ((request: Request) => string | undefined);

/** What an answer depends on, and how long it holds: the same words in every framework. */
export interface CachePolicy<Request> {
  /**
   * How long an answer is good for, in milliseconds. A function gives it for each answer when it is made; 0 keeps that
   * one from being stored.
   * @default the `ttl` of the cache
   */
  ttl?: number | ((request: Request, value: unknown) => number);
  /**
   * How long an answer is kept beyond its `ttl`, in milliseconds: one request makes a new one, and all others are given
   * the old one meanwhile; so is that one where the handler fails.
   * @default 0
   */
  stale?: number;
  /**
   * True where one request makes a new answer a little before its time is up, the earlier the longer that takes (XFetch).
   * @default false
   */
  early?: boolean;
  /** What `invalidate` forgets the answer by; a function names it from the request and the result, when it is made. */
  tags?: readonly string[] | ((request: Request, value: unknown) => readonly string[]);
  /**
   * The request headers an answer depends on, such as `accept-language`. Those that a response names in its own `Vary`
   * are added as they are met.
   * @default []
   */
  vary?: readonly string[];
  /**
   * Who is asking: `'public'` says that the answer is the same for everyone, whatever they send; a header, a cookie or a
   * function names the caller, and each name has answers of its own. A request without a name does not use the cache.
   * @default requests that show any credentials do not use the cache
   */
  identify?: Identify<Request>;
}
