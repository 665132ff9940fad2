import type { AsyncResource } from 'node:async_hooks';
import type { EngineConnection, EngineResponse } from '../exchange.ts';
import { nextTick } from '../node/clocks.ts';
import { kConnection } from '../node/message-state.ts';
import { mayHaveListeners } from '../node/replaced-methods.ts';

/** A connection whose responses continue after a tick. */
interface Proceeding extends EngineConnection, AsyncResource {
  proceed(response: EngineResponse, isOwn: boolean): void;
}

/** Responses without listeners: one tick serves all of them. */
let withoutListeners: EngineResponse[] = [];

/** Calls the connection's `proceed` in the next tick. */
export function proceedAfterTick(response: EngineResponse): void {
  if (mayHaveListeners(response)) {
    // Its own tick preserves the caller's asynchronous context for the listeners.
    nextTick(proceedOne, response);
  } else if (withoutListeners.push(response) === 1) {
    nextTick(proceedAll);
  }
}

function proceedOne(response: EngineResponse): void {
  connectionOf(response).proceed(response, true);
}

function proceedAll(): void {
  const responses = withoutListeners;
  withoutListeners = [];
  for (const response of responses) {
    const connection = connectionOf(response);
    try {
      // Listeners must not run in the context of the first response.
      if (!mayHaveListeners(response)) connection.proceed(response, false);
      else connection.runInAsyncScope(connection.proceed, connection, response, false);
    } catch (error) {
      connection.native.report(error);
    }
  }
}

function connectionOf(response: EngineResponse): Proceeding {
  return response[kConnection] as Proceeding;
}
