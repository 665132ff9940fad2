import { send } from '../servers/contract.ts';
import type { Interval } from '../figures.ts';
import type { RequestCalls } from '../calls-out/preload/protocol.ts';
import { medianInterval } from '../stats/order-statistics.ts';
import type { StairsPlan } from './plan.ts';
import type { WaitingMark } from './preload/protocol.ts';
import type { Session } from './session.ts';

/** Number of requests: the median of these is known well enough to tell a database from a disk. */
const requests = 40;
/** Max time: a slow route gets fewer requests. */
const maxMs = 5_000;
const minRequests = 5;

export interface Watched {
  marks: WaitingMark[][];
  requests: RequestCalls[];
}

/**
 * Records when requests reach each stage and what they call, one request after the other: time between stages that is not CPU was
 * spent waiting. Under load, the loop would be busy with other requests meanwhile.
 */
export async function watchWaiting(session: Session, { target }: StairsPlan): Promise<Watched> {
  const seen: Watched = { marks: [], requests: [] };
  const startedAt = performance.now();
  while (seen.marks.length < requests) {
    if (seen.marks.length >= minRequests && performance.now() - startedAt > maxMs) break;
    await session.ask({ type: 'watch' }, 'watching');
    await send(session.server, target.request);
    const taken = await session.ask({ type: 'marks' }, 'marks');
    seen.marks.push(taken.marks);
    seen.requests.push(...taken.requests);
  }
  session.say({ type: 'unwatch' });
  return seen;
}

/**
 * Returns the median of the idle times between two stages.
 * @param to Absent for the last stage: time after it belongs to no stage.
 */
export function waitingBetween(
  seen: readonly (readonly WaitingMark[])[],
  from: number,
  to: number | undefined,
): Interval {
  const idleAt = (marks: readonly WaitingMark[], stage: number): number | undefined =>
    marks.find((mark) => mark.stage === stage)?.idleMs;
  const waits = seen.flatMap((marks) => {
    const [start, end] = [idleAt(marks, from), to === undefined ? undefined : idleAt(marks, to)];
    return start === undefined || end === undefined ? [] : [Math.max(0, end - start)];
  });
  return medianInterval(waits);
}
