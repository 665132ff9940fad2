import type { IncomingMessage } from 'node:http';

/** Key of the number of a request's route, where its framework reports it early. */
export const kRoute: unique symbol = Symbol('route');

export type RoutedRequest = IncomingMessage & { [kRoute]?: number };
