import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { RingWriter } from '../native/ring-writer.ts';
import { NodeConnections } from './node-connections.ts';
import { writeBegin, writeEnd } from './node-requests.ts';
import { runListenersIn, type RunIn } from './listeners.ts';
import type { Place } from './requests.ts';

/** Takes part in the requests of these servers. */
export interface Tracing {
  /** Returns the context of a request's listeners, or `undefined` for none. */
  begin(request: IncomingMessage, response: ServerResponse, place: Place): object | undefined;
  /** Calls back in a context. */
  readonly run: RunIn;
  /** Returns the number of a request's route, 0 for none. */
  end(request: IncomingMessage, response: ServerResponse): number;
}

/** Node publishes it when a request has come, and when its response is done. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly server: Server;
}

const START = 'http.server.request.start';
const FINISH = 'http.server.response.finish';

/** Servers whose requests are not traced: our own. */
export const untracedServers: WeakSet<object> = new WeakSet<object>();

/**
 * Writes the requests of the servers of `node:http` and `node:https` to a ring, as the engine does for its own, and runs their
 * listeners in their contexts. Unlike a wrapped method of `Server`, the channels are silent about a request that one server
 * hands to another.
 */
export function traceNodeServers(writer: RingWriter, tracing: Tracing): () => void {
  const connections = new NodeConnections(writer);
  const places = new WeakMap<IncomingMessage, Place>();

  const onStart = (message: unknown): void => {
    const { request, response, server } = message as Exchange;
    if (untracedServers.has(server)) return;
    const connection = connections.of(request.socket);
    const { slot, generation } = connection;
    const place = { slot, generation, sequence: connection.next++ };
    places.set(request, place);
    writeBegin(writer, request, place);
    const context = tracing.begin(request, response, place);
    if (context !== undefined) runListenersIn(context, { request, response, server }, tracing.run);
  };

  const onFinish = (message: unknown): void => {
    const { request, response } = message as Exchange;
    const place = places.get(request);
    if (place !== undefined) writeEnd(writer, response, place, tracing.end(request, response));
  };

  subscribe(START, onStart);
  subscribe(FINISH, onFinish);
  return () => {
    unsubscribe(START, onStart);
    unsubscribe(FINISH, onFinish);
  };
}
