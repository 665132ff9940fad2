import { AsyncLocalStorage } from 'node:async_hooks';
import { constants } from 'node:os';
import { streamDestroyed, systemError } from '../errors.ts';
import { kEndCallbacks, kErrored, kNeedDrain } from '../node/node-internals.ts';
import type { EngineResponse } from '../exchange.ts';
import { kConnection, kDirect, kTickBytes, kWriteCallbacks } from '../node/message-state.ts';

export type Callback = (error?: Error | null) => void;

export function expectCallback(response: EngineResponse, callback: Callback): void {
  (response[kWriteCallbacks] ??= []).push(bindCallback(response, callback));
}

/**
 * Binds a callback to the caller's context, because one tick may serve many responses. An error that it throws is uncaught
 * in that context, in its own domain, and stops no other callback.
 */
export function bindCallback(response: EngineResponse, callback: Callback): Callback {
  const { native } = response[kConnection];
  return AsyncLocalStorage.bind((error) => {
    try {
      callback(error);
    } catch (thrown) {
      native.report(thrown);
    }
  });
}

/** Returns the callbacks of `write` as one. */
export function takeCallbacks(response: EngineResponse): Callback | undefined {
  const callbacks = response[kWriteCallbacks];
  if (callbacks === null) return undefined;
  response[kWriteCallbacks] = null;
  return (error) => {
    for (const callback of callbacks) callback(error ?? null);
  };
}

/** Calls back for bytes that the kernel has: "drain" comes before the callbacks, as on Node's sockets. */
export function callWriteCallbacks(response: EngineResponse, error: Error | null): void {
  response[kTickBytes] = 0;
  const callbacks = response[kWriteCallbacks];
  if (callbacks !== null) response[kWriteCallbacks] = null;
  if (error === null && response[kNeedDrain] && !response.finished) {
    if (response[kDirect]) {
      response[kNeedDrain] = false;
      response.emit('drain');
    } else {
      response[kConnection].passDrain();
    }
  }
  if (callbacks !== null) for (const callback of callbacks) callback(error);
}

/** Returns the error of bytes that the kernel had not taken when this side closed the connection. */
export function lostError(response: EngineResponse): Error | undefined {
  const { native } = response[kConnection];
  return native.destroyed && native.pending > 0
    ? systemError(constants.errno.ECANCELED, 'write')
    : undefined;
}

/** Drops the callbacks of bytes that will not be sent; as in Node, bytes that never reached the socket are not reported. */
export function dropCallbacks(response: EngineResponse): void {
  response[kWriteCallbacks] = null;
  response[kEndCallbacks] = null;
}

/** Calls the callbacks of `end`: with null, or the reason why the response was not sent. */
export function callEndCallbacks(response: EngineResponse, isFlushed: boolean): void {
  const callbacks = response[kEndCallbacks];
  if (callbacks === null || callbacks === undefined) return;
  response[kEndCallbacks] = null;
  const error = isFlushed
    ? null
    : (response[kErrored] ?? lostError(response) ?? streamDestroyed('end'));
  for (const callback of callbacks) callback(error);
}
