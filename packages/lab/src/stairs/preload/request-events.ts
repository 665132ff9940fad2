import http, { type IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { StairsState, WatchedResponse } from './state.ts';

/** Path of this file as it appears in stacks. */
export const eventsFile: string = fileURLToPath(import.meta.url);

/** The response, set on every request whose listeners are followed. */
const answeredBy: unique symbol = Symbol('redline: its response');

type WatchedRequest = IncomingMessage & { [answeredBy]?: WatchedResponse };

export function followEvents(request: IncomingMessage, response: WatchedResponse): void {
  (request as WatchedRequest)[answeredBy] = response;
}

/**
 * Runs the events of a request as part of it. A body that arrives after its headers is read from the socket, outside the context of
 * the handler: without this, its listeners would belong to no request.
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
