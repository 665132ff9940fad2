import type { Attributes, Exception } from '@opentelemetry/api';

const TYPE = 'exception.type';
const MESSAGE = 'exception.message';
const STACK = 'exception.stacktrace';

/** Returns the attributes of the event of an exception; undefined if it has neither a type nor a message. */
export function exceptionAttributes(exception: Exception): Attributes | undefined {
  const attributes: Attributes = {};
  if (typeof exception === 'string') attributes[MESSAGE] = exception;
  // User code throws null too.
  else if (exception as unknown) {
    const { code, name, message, stack } = exception;
    if (code) attributes[TYPE] = code.toString();
    else if (name) attributes[TYPE] = name;
    if (message) attributes[MESSAGE] = message;
    if (stack) attributes[STACK] = stack;
  }
  return attributes[TYPE] || attributes[MESSAGE] ? attributes : undefined;
}
