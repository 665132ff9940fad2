import { isPromise } from '../is-promise.ts';
import { OwnWork } from '../job/own-work.ts';
import type { Delivery, SinkHost } from '../sink.ts';
import type { Abortable } from './until-aborted.ts';

/**
 * Runs one job in its context, and in a span if spans are enabled, until it ends or its time is up. Returns a promise if
 * the job does.
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
  // Within the context of the request, which has the span's parent.
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
