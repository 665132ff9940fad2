import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { RingWriter } from '../native/ring-writer.ts';
import { NodeConnections } from './node-connections.ts';
import { writeBegin, writeEnd } from './node-requests.ts';
import { runListenersIn, type Exchange, type RunIn } from './listeners.ts';
import type { Place } from './requests.ts';

/** Takes part in the requests of these servers. */
export interface Tracing {
  /** Returns the context of a request's listeners, or `undefined` for none. */
  readonly begin: (
    request: IncomingMessage,
    response: ServerResponse,
    place: Place,
  ) => object | undefined;
  /** Calls back in a context. */
  readonly run: RunIn;
  /** Returns the number of a request's route, 0 for none. */
  readonly end: (request: IncomingMessage, response: ServerResponse) => number;
}

const START = 'http.server.request.start';
const FINISH = 'http.server.response.finish';
/** Key under which a server of `@redline/http` reports its engine. */
const kServedBy = Symbol.for('redline.http.servedBy');

/** Servers whose requests are not traced: our own. */
export const untracedServers: WeakSet<object> = new WeakSet<object>();

/**
 * Writes the requests of the servers of `node:http` and `node:https` to a ring, as the engine does for its own, and runs their
 * listeners in their contexts. Unlike a wrapped method of `Server`, the channels are silent about a request that one server
 * hands to another.
 */
export class NodeServers {
  readonly #writer: RingWriter;
  readonly #tracing: Tracing;
  readonly #connections: NodeConnections;
  readonly #places = new WeakMap<IncomingMessage, Place>();
  #isListening = true;
  #unwrap: (() => void) | undefined;

  constructor(writer: RingWriter, tracing: Tracing) {
    this.#writer = writer;
    this.#tracing = tracing;
    this.#connections = new NodeConnections(writer);
    subscribe(START, this.#onStart);
    subscribe(FINISH, this.#onFinish);
  }

  /** Leaves plain HTTP to the engine: with a listener of the channels each of its requests would be published, too. */
  leaveToEngine(): void {
    if (!this.#isListening) return;
    this.#isListening = false;
    unsubscribe(START, this.#onStart);
    unsubscribe(FINISH, this.#onFinish);
  }

  /** Traces the servers of `node:https` without the channels. */
  wrapHttps(): void {
    if (this.#unwrap !== undefined) return;
    const { prototype } = process.getBuiltinModule('node:https').Server;
    const { emit } = prototype;
    const begins = (exchange: Exchange): boolean => this.#beginsWrapped(exchange);
    const wrapped = function (this: Server, name: string, ...given: unknown[]): boolean {
      const [request, response] = given as [IncomingMessage, ServerResponse];
      // The server emits in the request's context from now on.
      if (name === 'request' && begins({ request, response, server: this })) {
        return this.emit(name, ...given);
      }
      return Reflect.apply(emit, this, [name, ...given]) as boolean;
    };
    prototype.emit = wrapped as typeof emit;
    this.#unwrap = () => {
      if (prototype.emit === wrapped) prototype.emit = emit;
    };
  }

  stop(): void {
    this.leaveToEngine();
    this.#unwrap?.();
  }

  /** Returns false if the request has begun before, or is not traced. */
  #beginsWrapped(exchange: Exchange): boolean {
    const { request, response } = exchange;
    if (this.#places.has(request)) return false;
    this.#onStart(exchange);
    if (!this.#places.has(request)) return false;
    response.once('finish', () => {
      if (!this.#isListening) this.#onFinish(exchange);
    });
    return true;
  }

  readonly #onStart = (message: unknown): void => {
    const { request, response, server } = message as Exchange;
    if (untracedServers.has(server) || isEngines(server)) return;
    const connection = this.#connections.of(request.socket);
    const { slot, generation } = connection;
    const place = { slot, generation, sequence: connection.next++ };
    this.#places.set(request, place);
    writeBegin(this.#writer, request, place);
    const { begin, run } = this.#tracing;
    const context = begin(request, response, place);
    if (context !== undefined) runListenersIn(context, { request, response, server }, run);
  };

  readonly #onFinish = (message: unknown): void => {
    const { request, response } = message as Exchange;
    const place = this.#places.get(request);
    if (place === undefined) return;
    writeEnd(this.#writer, response, place, this.#tracing.end(request, response));
  };
}

/** True for a server of `@redline/http`: its engine publishes its requests to these channels, too. */
function isEngines(server: Server): boolean {
  const { [kServedBy]: servedBy } = server as { [kServedBy]?: () => { readonly name: string } };
  return servedBy !== undefined && servedBy.call(server).name === 'native';
}
