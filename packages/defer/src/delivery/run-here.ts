import type { Delivery, SinkHost } from '../sink.ts';
import type { Abortable } from './until-aborted.ts';

/**
 * Runs one job in its context, and in a span where there are any, until its end or that of its time. A promise where
 * the job is one.
 */
export function runHere(
  { name, spans }: Pick<SinkHost, 'name' | 'spans'>,
  delivery: Delivery,
  inTime: Abortable,
  work: () => unknown,
): Promise<unknown> | undefined {
  if (spans === undefined) return limited(delivery.run(work), inTime);
  // Within the context of the request, which the span is a child of.
  return delivery.run(() => spans.process(name, [delivery], () => limited(work(), inTime)));
}

function limited(outcome: unknown, inTime: Abortable): Promise<unknown> | undefined {
  return isPromise(outcome) ? inTime.race(Promise.resolve(outcome)) : undefined;
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | undefined)?.then === 'function';
}
