import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Serving } from './protocol.ts';

/** Key under which a server of @redline/http reports its engine. */
const kServedBy: unique symbol = Symbol.for('redline.http.servedBy') as never;

interface Known {
  [kServedBy]?(): Serving;
}

/**
 * Subscribes only until the next request: a subscriber costs every request something. Returns a function that reports the engine of
 * its server.
 */
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
