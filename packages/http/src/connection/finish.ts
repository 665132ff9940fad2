import type { AsyncResource } from 'node:async_hooks';
import type { EngineRequest, EngineResponse, EngineConnection } from '../exchange.ts';
import { nextTick } from '../node/clocks.ts';
import { kConnection, kContext } from '../node/message-state.ts';
import { kErrored, kWritableFinished, addFirstListener } from '../node/node-internals.ts';
import { isEmitReplaced, mayHaveListeners } from '../node/replaced-methods.ts';
import { closeAfterTick, emitClose } from '../response/hand-over.ts';
import { runInContext } from '../request/request-context.ts';
import { callEndCallbacks } from '../response/write-callbacks.ts';

/** Marks an `emit` that only calls the original in another context: `@redline/defer` sets one on each response. */
const kCallsThrough = Symbol.for('redline.calls-through');

/** A replaced `emit` may hold back "finish", and with it the work that Node does then. */
function mayHoldBack(response: EngineResponse): boolean {
  if (!isEmitReplaced(response)) return false;
  const below = Reflect.getPrototypeOf(response) as EngineResponse;
  return !(kCallsThrough in response.emit) || isEmitReplaced(below);
}

/** Called when the kernel has the bytes of a direct response. */
export function finish(response: EngineResponse): void {
  const connection = response[kConnection];
  if (response[kWritableFinished] || connection.first !== response) return;
  if (response[kErrored]) {
    // Destroyed with an error after its end and before its turn. As in Node, its request is not read to the end, so that the app can
    // destroy it. Node never gives the turn to the next response.
    callEndCallbacks(response, false);
    connection.finished(response);
    return;
  }
  response[kWritableFinished] = true;
  callEndCallbacks(response, true);
  if (mayHoldBack(response)) {
    addFirstListener(response, 'finish', () => {
      if (connection.first !== response) return;
      connection.release(response);
      nextTick(emitClose, response);
      connection.finished(response);
    });
    response.emit('finish');
    return;
  }
  connection.release(response);
  if (response._events === undefined) {
    connection.finished(response);
    // Subscribers of the channel may have added listeners.
    if (response._events === undefined) {
      response.destroyed = true;
      response._closed = true;
      return;
    }
    closeAfterTick(response);
  } else {
    // Runs before the ticks of the next response.
    nextTick(emitClose, response);
    connection.finished(response);
  }
  response.emit('finish');
}

/** A connection whose responses continue after a tick. */
interface Proceeding extends EngineConnection, AsyncResource {
  proceed(response: EngineResponse, isOwn: boolean): void;
}

/** Responses without listeners: one tick serves all of them. */
let withoutListeners: EngineResponse[] = [];

/** Calls the connection's `proceed` in the next tick. */
export function proceedAfterTick(response: EngineResponse): void {
  if (mayHaveListeners(response) || mayEmitEnd(response.req)) {
    // Its own tick preserves the caller's asynchronous context for the listeners.
    nextTick(proceedOne, response);
  } else if (withoutListeners.push(response) === 1) {
    nextTick(proceedAll);
  }
}

/** True if the end of the response makes an unread request emit its events. */
function mayEmitEnd(request: EngineRequest): boolean {
  return request._events !== undefined && !request._consuming;
}

function proceedOne(response: EngineResponse): void {
  proceedInContext(connectionOf(response), response, true);
}

/** Continues a response in its request's context. */
export function proceedInContext(
  connection: Proceeding,
  response: EngineResponse,
  isOwn: boolean,
): void {
  if (response.req[kContext] === undefined) connection.proceed(response, isOwn);
  else runInContext(response.req, proceed, connection, response, isOwn);
}

function proceed(connection: Proceeding, response: EngineResponse, isOwn: boolean): void {
  connection.proceed(response, isOwn);
}

function proceedAll(): void {
  const responses = withoutListeners;
  withoutListeners = [];
  for (const response of responses) {
    const connection = connectionOf(response);
    try {
      // Listeners must not run in the context of the first response.
      if (!mayHaveListeners(response)) connection.proceed(response, false);
      else connection.runInAsyncScope(proceedInContext, undefined, connection, response, false);
    } catch (error) {
      connection.native.report(error);
    }
  }
}

function connectionOf(response: EngineResponse): Proceeding {
  return response[kConnection] as Proceeding;
}
