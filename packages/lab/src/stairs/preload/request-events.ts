import http, { type IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { StairsState, WatchedResponse } from './state.ts';

/** This file, as it is on a stack. */
export const eventsFile: string = fileURLToPath(import.meta.url);

/** Its response, on every request whose listeners are followed. */
const answeredBy: unique symbol = Symbol('redline: its response');

type WatchedRequest = IncomingMessage & { [answeredBy]?: WatchedResponse };

export function followEvents(request: IncomingMessage, response: WatchedResponse): void {
  (request as WatchedRequest)[answeredBy] = response;
}

/**
 * What a request emits belongs to it. A body that arrives behind its headers is read from the socket, outside of everything that
 * the handler began: without this, its listeners would be those of no request.
 */
export function watchEvents({ responses }: StairsState): void {
  const { prototype } = http.IncomingMessage;
  const emit = prototype.emit as (this: IncomingMessage, ...args: unknown[]) => boolean;
  prototype.emit = function (this: WatchedRequest): boolean {
    const response = this[answeredBy];
    return response === undefined || responses.getStore() === response
      ? // oxlint-disable-next-line prefer-rest-params
        emit.apply(this, arguments as never)
      : // oxlint-disable-next-line prefer-rest-params
        responses.run(response, applied, emit, this, arguments);
  } as typeof prototype.emit;
}

function applied(
  emit: (this: IncomingMessage, ...args: unknown[]) => boolean,
  request: IncomingMessage,
  args: IArguments,
): boolean {
  return emit.apply(request, args as never);
}
