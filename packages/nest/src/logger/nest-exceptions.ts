import type { ArgumentsHost } from '@nestjs/common';
import { ExceptionsHandler } from '@nestjs/core/exceptions/exceptions-handler.js';

type Listener = (exception: unknown, response: unknown) => void;

const listeners = new Set<Listener>();
const { next } = ExceptionsHandler.prototype;

/**
 * Reports every exception that Nest handles for a request, before any filter sees it.
 *
 * Nest catches what a handler, guard, pipe or middleware throws and gives it to a filter;
 * neither Fastify's `onError` nor the response ever sees it. A filter or an interceptor of ours
 * would see only some, and would stand in the way of the app's own. All of them pass through
 * this one method, which costs nothing unless something is thrown.
 */
export function onNestException(listener: Listener): () => void {
  if (listeners.size === 0) ExceptionsHandler.prototype.next = announcingNext;
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && ExceptionsHandler.prototype.next === announcingNext) {
      ExceptionsHandler.prototype.next = next;
    }
  };
}

function announcingNext(this: ExceptionsHandler, exception: Error, host: ArgumentsHost): void {
  for (const listener of listeners) listener(exception, host.getArgByIndex(1));
  next.call(this, exception, host);
}
