import { send } from '../servers/contract.ts';
import type { Interval } from '../figures.ts';
import { quantileOfSorted } from '../stats/quantile.ts';
import type { StairsPlan } from './plan.ts';
import type { WaitingMark } from './preload/protocol.ts';
import type { Session } from './session.ts';

/** Number of requests: the median of these is known well enough to tell a database from a disk. */
const requests = 40;
/** Max time: a slow route gets fewer requests. */
const maxMs = 5_000;
const minRequests = 5;

/**
 * Records when requests reach each stage, one request after the other: time between stages that is not CPU was spent waiting. Under
 * load, the loop would be busy with other requests meanwhile.
 */
export async function watchWaiting(
  session: Session,
  { target }: StairsPlan,
): Promise<WaitingMark[][]> {
  const seen: WaitingMark[][] = [];
  const startedAt = performance.now();
  while (seen.length < requests) {
    if (seen.length >= minRequests && performance.now() - startedAt > maxMs) break;
    await session.ask({ type: 'watch' }, 'watching');
    await send(session.server, target.request);
    seen.push((await session.ask({ type: 'marks' }, 'marks')).marks);
  }
  return seen;
}

/**
 * Returns the median, with the order statistics that hold it 95 times in a hundred.
 * @param to Absent for the last stage: time after it belongs to no stage.
 */
export function waitingBetween(
  seen: readonly (readonly WaitingMark[])[],
  from: number,
  to: number | undefined,
): Interval {
  const idleAt = (marks: readonly WaitingMark[], stage: number): number | undefined =>
    marks.find((mark) => mark.stage === stage)?.idleMs;
  const waits = seen
    .flatMap((marks) => {
      const [start, end] = [idleAt(marks, from), to === undefined ? undefined : idleAt(marks, to)];
      return start === undefined || end === undefined ? [] : [Math.max(0, end - start)];
    })
    .toSorted((a, b) => a - b);
  if (waits.length === 0) return { value: 0, low: 0, high: 0 };
  const reach = 0.98 / Math.sqrt(waits.length);
  return {
    value: quantileOfSorted(waits, 0.5),
    low: quantileOfSorted(waits, Math.max(0, 0.5 - reach)),
    high: quantileOfSorted(waits, Math.min(1, 0.5 + reach)),
  };
}
