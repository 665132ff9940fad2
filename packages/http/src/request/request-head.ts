import type { IncomingHttpHeaders } from 'node:http';

/** The parts of a request that select its response. `url` is the target as received, before any rewriting. */
export interface RequestHead {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}
