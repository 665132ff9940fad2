import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Serving } from './protocol.ts';

/** By this a server of @redline/http reports what serves it. */
const kServedBy: unique symbol = Symbol.for('redline.http.servedBy') as never;

interface Known {
  [kServedBy]?(): Serving;
}

/** Waits for the next request, and no longer: a subscriber costs every request something. Returns what serves its server. */
export function watchServing(): () => Serving | undefined {
  const channel = 'http.server.request.start';
  let server: Known | undefined;
  const take = (message: unknown): void => {
    unsubscribe(channel, take);
    ({ server } = message as { server: Known });
  };
  subscribe(channel, take);
  return () => {
    unsubscribe(channel, take);
    return server?.[kServedBy]?.();
  };
}
