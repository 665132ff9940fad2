import type { EngineConnection, EngineRequest } from '../exchange.ts';
import { kOver } from '../node/message-state.ts';
import { kAbortController, kDetachSignal } from '../node/node-internals.ts';
import { isHeard } from '../node/replaced-methods.ts';
import { isRequestReplaced, isStream } from './request.ts';

/** More of the body of the request that came last. */
export function pushBody(connection: EngineConnection, chunk: Buffer): void {
  const { incoming } = connection;
  if (incoming === null || incoming._dumped) return;
  if (!incoming.push(chunk)) connection.pauseReading();
}

/**
 * The body is complete; trailers as they came: name, value, name, value. From here on the next request is read: as with Node
 * that ends a pause.
 */
export function completeBody(connection: EngineConnection, trailers: readonly string[]): void {
  const { incoming } = connection;
  if (incoming === null) return;
  incoming.complete = true;
  if (trailers.length > 0) incoming._addHeaderLines(trailers, trailers.length);
  incoming.push(null);
  connection.resumeReading();
}

/** Ends a request that has no body, once it has been handed to the listeners. */
export function completeBodyless(request: EngineRequest): void {
  request.complete = true;
  if (isStream(request)) request.push(null);
  // Somebody has replaced a method of it: its end is pushed when it becomes a stream.
  else if (isRequestReplaced(request)) void request._readableState;
}

/** The response is finished: unread bytes are dropped, and "end" and "close" are emitted as with Node. */
export function releaseRequest(request: EngineRequest, connection: EngineConnection): void {
  // Of its own where somebody asked for `request.signal`: the end of the connection is not an abort of it any more.
  if (Object.hasOwn(request, kAbortController)) request[kDetachSignal]?.();
  if (!isStream(request) && request._events === undefined && !isRequestReplaced(request)) {
    request[kOver] = true;
    return;
  }
  if (!request._consuming && !request._readableState.resumeScheduled) {
    request._dump();
    // Without a listener, the rest need not be delivered here.
    if (!request.complete && !isHeard(request)) {
      connection.resumeReading();
      connection.native.discardBody();
    }
  }
}

/** "data", "end" and "close" are skipped: the server's `optimizeEmptyRequests`. */
export function skipEmptyBody(request: EngineRequest): void {
  request._dumped = true;
  if (isStream(request)) request._dumpAndCloseReadable?.();
  else request[kOver] = true;
}
