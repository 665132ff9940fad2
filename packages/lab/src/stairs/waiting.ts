import { send } from '../servers/contract.ts';
import type { Interval } from '../figures.ts';
import { quantileOfSorted } from '../stats/quantile.ts';
import type { StairsPlan } from './plan.ts';
import type { WaitingMark } from './preload/protocol.ts';
import type { Session } from './session.ts';

/** The median of so many is known well enough to tell a database from a disk. */
const requests = 40;
/** A slow route gets fewer. */
const mostMs = 5_000;
const leastRequests = 5;

/**
 * When requests come to each stage, one request after the other: what lies between and is not CPU was spent waiting.
 * Under load the loop would be busy with others meanwhile.
 */
export async function watchWaiting(
  session: Session,
  { target }: StairsPlan,
): Promise<WaitingMark[][]> {
  const seen: WaitingMark[][] = [];
  const startedAt = performance.now();
  while (seen.length < requests) {
    if (seen.length >= leastRequests && performance.now() - startedAt > mostMs) break;
    await session.ask({ type: 'watch' }, 'watching');
    await send(session.server, target.request);
    seen.push((await session.ask({ type: 'marks' }, 'marks')).marks);
  }
  return seen;
}

/**
 * Median, with the order statistics that hold it 95 times in a hundred.
 * @param to Absent for the last stage: what follows it is nobody's.
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
