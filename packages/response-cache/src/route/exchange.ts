import type { CachedRoute, CacheRequest } from './cached-route.ts';
import type { ResponsePort } from './response-port.ts';

/** A request of a cached route, and the response to it. */
export interface Exchange {
  readonly route: CachedRoute;
  readonly request: CacheRequest;
  readonly key: string;
  readonly response: unknown;
  /** The operations of the framework on `response`. */
  readonly responses: ResponsePort<unknown>;
}
