import { OwnWork } from '../job/own-work.ts';
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
  const own = new OwnWork();
  const ownWork = (): unknown => own.run(work);
  if (spans === undefined) return limited(delivery.run(ownWork), inTime, own);
  // Within the context of the request, which the span is a child of.
  return delivery.run(() => spans.process(name, [delivery], () => limited(ownWork(), inTime, own)));
}

function limited(outcome: unknown, inTime: Abortable, own: OwnWork): Promise<unknown> | undefined {
  if (!isPromise(outcome)) {
    own.over();
    return undefined;
  }
  const promise = Promise.resolve(outcome);
  promise.then(own.over, own.over);
  return inTime.race(promise);
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | undefined)?.then === 'function';
}
