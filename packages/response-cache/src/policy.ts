/** How callers are told apart; see `identify` of {@link CachePolicy}. */
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
