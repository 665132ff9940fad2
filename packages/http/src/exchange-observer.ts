import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpError } from './errors.ts';

/** A tracer or a metrics library that takes the facts of requests from the engine. One per thread. */
export interface ExchangeObserver {
  /**
   * Returns the ring (crates/telemetry_ring) that an engine of this thread writes: called once per engine, when it is opened or
   * observed. The engine in the loop is 0, one with a thread of its own 1.
   */
  ring(engine: number): Uint32Array;
  /**
   * Called before the listeners of a request; returns the context they run in, or undefined for none. A request that gives its
   * connection to another protocol has no response. Must not throw.
   */
  begin(
    request: IncomingMessage,
    response: ServerResponse | undefined,
    engine: number,
    slot: number,
    generation: number,
    sequence: number,
  ): object | undefined;
  /** Calls back in a context of `begin`: the listeners of the request and of its response, and the events of its body. */
  run(context: object, callback: (...args: any[]) => void, ...args: unknown[]): void;
  /** Returns the number of the route, 0 if none, when the response ends: at most 22 bits. Must not throw. */
  routeOf(request: IncomingMessage, response: ServerResponse): number;
}

interface ObservedEngine {
  readonly number: number;
  /** Has the engine write a ring; null ends it. */
  observe(ring: Uint32Array | null): void;
}

const engines: ObservedEngine[] = [];
let observer: ExchangeObserver | undefined;

/**
 * Has the engines of this thread write the facts of exchanges to rings of the observer, before or after servers exist.
 *
 * @returns ends it
 * @throws HttpError if this thread has an observer
 */
export function observeExchanges(given: ExchangeObserver): () => void {
  if (observer !== undefined) {
    throw new HttpError(
      'ERR_REDLINE_HTTP_OBSERVER',
      'This thread has an observer of its exchanges; end it first, by the function that observeExchanges returned for it.',
    );
  }
  const rings = engines.map(({ number }) => given.ring(number));
  observer = given;
  for (const [index, engine] of engines.entries()) engine.observe(rings[index]!);
  return () => {
    if (observer !== given) return;
    observer = undefined;
    for (const engine of engines) engine.observe(null);
  };
}

/** Has a new engine observed, from now on or once there is an observer. */
export function addObservedEngine(engine: ObservedEngine): void {
  engines.push(engine);
  if (observer !== undefined) engine.observe(observer.ring(engine.number));
}

export function currentObserver(): ExchangeObserver | undefined {
  return observer;
}

/** Returns the number of a response's route; 0 for none, or without an observer. */
export function routeOf(response: ServerResponse): number {
  return observer === undefined ? 0 : observer.routeOf(response.req, response);
}
