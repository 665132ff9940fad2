import type { ServerResponse } from 'node:http';
import { currentObserver } from '../exchange-observer.ts';
import { COMMAND } from '../native/wire.ts';
import type { EngineResponse } from '../exchange.ts';

/** Returns the facts that the last command of a response carries: its status and its route. 0 without an observer. */
export function factsOf(response: EngineResponse): number {
  const observer = currentObserver();
  if (observer === undefined) return 0;
  const given = response as unknown as ServerResponse;
  const route = observer.routeOf(given.req, given);
  return ((response.statusCode << COMMAND.STATUS_SHIFT) | route) >>> 0;
}
