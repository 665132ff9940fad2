import type { EngineConnection, EngineRequest } from '../exchange.ts';
import { kContext, kReleased } from '../node/message-state.ts';
import { kAbortController, kDetachSignal } from '../node/node-internals.ts';
import { mayHaveListeners } from '../node/replaced-methods.ts';
import { isRequestReplaced, isStream } from './request.ts';
import { runInContext } from './request-context.ts';

/** Adds a chunk to the body of the latest request. */
export function pushBody(connection: EngineConnection, chunk: Buffer): void {
  const { incoming } = connection;
  if (incoming === null || incoming._dumped) return;
  if (incoming[kContext] === undefined) push(incoming, connection, chunk);
  else runInContext(incoming, push, incoming, connection, chunk);
}

function push(request: EngineRequest, connection: EngineConnection, chunk: Buffer): void {
  if (!request.push(chunk)) connection.pauseReading();
}

/**
 * Completes the body; trailers are raw: name, value, name, value. The next request is now read: as in Node, that ends a
 * pause.
 */
export function completeBody(connection: EngineConnection, trailers: readonly string[]): void {
  const { incoming } = connection;
  if (incoming === null) return;
  incoming.complete = true;
  if (trailers.length > 0) incoming._addHeaderLines(trailers, trailers.length);
  pushEndInContext(incoming);
  connection.resumeReading();
}

function pushEndInContext(request: EngineRequest): void {
  if (request[kContext] === undefined) pushEnd(request);
  else runInContext(request, pushEnd, request);
}

function pushEnd(request: EngineRequest): void {
  request.push(null);
}

/** Ends a request without a body, after the listeners have received it. */
export function completeBodyless(request: EngineRequest): void {
  request.complete = true;
  if (isStream(request)) pushEndInContext(request);
  // A method of it was replaced: its end is pushed when it becomes a stream.
  else if (isRequestReplaced(request)) void request._readableState;
}

/** Called when the response is finished: drops unread bytes and emits "end" and "close" as Node does. */
export function releaseRequest(request: EngineRequest, connection: EngineConnection): void {
  // It is an own property after an access to `request.signal`: the end of the connection no longer aborts the request.
  if (Object.hasOwn(request, kAbortController)) request[kDetachSignal]?.();
  if (!isStream(request) && request._events === undefined && !isRequestReplaced(request)) {
    request[kReleased] = true;
    return;
  }
  if (!request._consuming && !request._readableState.resumeScheduled) {
    request._dump();
    // Without a listener, the rest need not be delivered to JavaScript.
    if (!request.complete && !mayHaveListeners(request)) {
      connection.resumeReading();
      connection.native.discardBody();
    }
  }
}

/** Skips "data", "end" and "close": the server's `optimizeEmptyRequests`. */
export function skipEmptyBody(request: EngineRequest): void {
  request._dumped = true;
  if (isStream(request)) request._dumpAndCloseReadable?.();
  else request[kReleased] = true;
}
