import { LabError } from '../errors.ts';
import { send } from '../run/contract.ts';
import { checkRoute } from './check-route.ts';
import type { StairsObservations, StairsPlan } from './plan.ts';
import { whole } from './preload/protocol.ts';
import type { Session } from './session.ts';

const cutTimeoutMs = 3_000;

/** Each once, before there is load: an app that cannot stand a cut should say so in a second, not in a minute. */
export async function tryCuts(
  session: Session,
  { target }: StairsPlan,
  observed: StairsObservations,
): Promise<void> {
  const { stages } = observed.spine;
  // The first requests of a fresh server may take another way.
  await checkRoute(session, target.request);
  for (const cut of observed.cuts) {
    const { stubs } = await session.ask({ type: 'hold', cut }, 'held');
    const answer = await send(session.port, target.request, cutTimeoutMs).catch(
      (error: Error) => error,
    );
    const after = await session.ask({ type: 'hold', cut: whole }, 'held');
    const drop = (reason: string): void => {
      observed.cuts = observed.cuts.filter((each) => each !== cut);
      observed.leftOut.push({ name: stages[cut]!.name, reason });
    };
    if (after.stubs === stubs) drop('never reached once it could have been cut');
    else if (answer instanceof Error)
      drop(`a request that ended there got no answer (${answer.message})`);
  }
  requireCuts(observed);
}

export function requireCuts({ cuts, leftOut }: StairsObservations): void {
  if (cuts.length > 0) return;
  const reasons = leftOut.map(({ name, reason }) => `\n  ${name}: ${reason}`);
  throw new LabError(
    'ERR_REDLINE_STAIRS',
    `None of the stages can be cut, so there is nothing to measure.${reasons.join('')}`,
  );
}
