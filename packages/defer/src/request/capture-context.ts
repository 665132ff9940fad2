import type { ContextOptions } from '../options.ts';
import type { Scope } from './scope.ts';
import type { DeferContext } from '../sink.ts';

/** What a job takes along of its request, and of the app. */
export function captureContext(
  scope: Scope | undefined,
  { capture }: ContextOptions,
): DeferContext | undefined {
  const facts = scope?.facts;
  const captured = capture?.();
  if (captured === undefined) {
    if (facts === undefined) return undefined;
    const { traceparent, requestId } = facts;
    return traceparent === undefined && requestId === undefined ? undefined : facts;
  }
  return { ...facts, ...captured };
}
