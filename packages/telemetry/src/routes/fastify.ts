import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { RouteTable } from './route-table.ts';
import type { IncomingMessage } from 'node:http';

// Parts of Fastify 4 and 5.
interface Fastify {
  addHook(name: 'onRequest', hook: Hook): unknown;
}

interface FastifyRequest {
  readonly raw: RoutedRequest;
  readonly routeOptions: { readonly url?: string };
}

type Hook = (request: FastifyRequest, reply: unknown, done: () => void) => void;

const CHANNEL = 'fastify.initialization';

/** Notes the route of each request of the Fastify instances that are made from now on, before their other hooks. */
export function noteFastifyRoutes(table: RouteTable): () => void {
  const hook: Hook = (request, _, done) => {
    const { url } = request.routeOptions;
    if (url !== undefined) request.raw[kRoute] = table.numberOf(url);
    done();
  };
  const listener = (message: unknown): void => {
    (message as { fastify: Fastify }).fastify.addHook('onRequest', hook);
  };
  subscribe(CHANNEL, listener);
  return () => void unsubscribe(CHANNEL, listener);
}

/** Key of the number of a request's route, where its framework reports it early. */
export const kRoute: unique symbol = Symbol('route');

export type RoutedRequest = IncomingMessage & { [kRoute]?: number };
