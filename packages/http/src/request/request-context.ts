import type { EngineConnection, EngineRequest, EngineResponse } from '../exchange.ts';
import type { ExchangeObserver } from '../exchange-observer.ts';
import { kContext, kObserver } from '../node/message-state.ts';

/** Reports a request to the observer. Its events are emitted in the context that the observer returns. */
export function beginExchange(
  observer: ExchangeObserver,
  connection: EngineConnection,
  request: EngineRequest,
  response: EngineResponse | undefined,
  sequence: number,
): void {
  const { engine, slot, generation } = connection.native;
  const context = observer.begin(
    request as never,
    response as never,
    engine,
    slot,
    generation,
    sequence,
  );
  if (context === undefined) return;
  request[kContext] = context;
  request[kObserver] = observer;
}

/** Calls back in the request's context, if it has one. */
export function runInContext<Given extends unknown[]>(
  request: EngineRequest,
  callback: (...given: Given) => unknown,
  ...given: Given
): void {
  const context = request[kContext];
  if (context === undefined) callback(...given);
  else request[kObserver]!.run(context, callback as never, ...given);
}
