import { optionError } from '../errors.ts';
import type { ContextOptions } from '../options.ts';
import type { Scope } from './scope.ts';
import type { DeferContext } from '../sink.ts';

/** Returns the context a job carries, from its request and from the app. */
export function captureContext(
  scope: Scope | undefined,
  { capture }: ContextOptions,
): DeferContext | undefined {
  const facts = scope?.facts;
  const captured = objectOf(capture?.());
  if (captured === undefined) {
    if (facts === undefined) return undefined;
    const { traceparent, requestId } = facts;
    return traceparent === undefined && requestId === undefined ? undefined : facts;
  }
  return { ...facts, ...captured };
}

/* A promise would be spread into nothing, and its rejection would end the process. */
function objectOf<Captured>(captured: Captured): Captured {
  if (!(captured instanceof Promise)) return captured;
  captured.catch(() => {});
  throw optionError(
    'The option context.capture must return an object of strings; got a promise: read the context without await.',
  );
}
