import type { IncomingMessage, ServerResponse } from 'node:http';
import { diag, type Attributes } from '@opentelemetry/api';
import type { RequestContext } from '../api/request-context.ts';
import { onResponseEnd, type RequestSpans } from '../api/request-spans.ts';
import type { Routes } from '../routes/routes.ts';
import type { RouteTable } from '../routes/route-table.ts';

const kContext: unique symbol = Symbol('context');

type TracedRequest = IncomingMessage & { [kContext]?: RequestContext };

/** Where a request is in the ring: its connection, and its number on it. */
export interface Place {
  readonly slot: number;
  readonly generation: number;
  readonly sequence: number;
}

/** Begins and ends requests in JavaScript, whichever server has them. */
export class Requests {
  readonly #routes: Routes;
  readonly #table: RouteTable;

  constructor(routes: Routes, table: RouteTable) {
    this.#routes = routes;
    this.#table = table;
  }

  /** Returns the context in which the listeners of a request run. */
  begin(
    spans: RequestSpans,
    request: TracedRequest,
    response: ServerResponse,
    slot: number,
    generation: number,
    sequence: number,
  ): RequestContext {
    const context = spans.begin(request, response, slot, generation, sequence);
    request[kContext] = context;
    return context;
  }

  /** Returns the number of a request's route, 0 for none, when its response ends. */
  end(request: TracedRequest, response: ServerResponse): number {
    const number = this.#numberOf(request);
    const context = request[kContext];
    if (context === undefined) return number;
    const { route } = context;
    // The instrumentation of a framework that is unknown here may have set it.
    const known = number === 0 && route !== undefined ? this.#table.numberOf(route) : number;
    if (context.startedSpan !== undefined) {
      onResponseEnd(context, response.statusCode, this.#attributesOf(response, known));
    }
    return known;
  }

  /** A request of an unknown framework may have other values where a known one has its route. */
  #numberOf(request: TracedRequest): number {
    try {
      return this.#routes.numberOf(request);
    } catch (error) {
      diag.debug('@redline/telemetry: a request has no route that is known', error);
      return 0;
    }
  }

  #attributesOf({ statusCode }: ServerResponse, route: number): Attributes {
    const pattern = route === 0 ? undefined : this.#table.patternOf(route);
    return {
      ...(pattern !== undefined && { 'http.route': pattern }),
      ...(statusCode >= 500 && { 'error.type': String(statusCode) }),
    };
  }
}
