import { LabError } from '../errors.ts';
import { send } from '../run/contract.ts';
import { checkRoute } from './check-route.ts';
import type { StairsObservations, StairsPlan } from './plan.ts';
import { whole } from './preload/protocol.ts';
import { CrashUnderCut, type Session } from './session.ts';
import type { Spine } from './spine.ts';

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
    const after = await explained(
      session.ask({ type: 'hold', cut: whole }, 'held'),
      observed.spine,
    );
    const drop = (reason: string): void => {
      observed.cuts = observed.cuts.filter((each) => each !== cut);
      observed.leftOut.push({ name: stages[cut]!.name, reason });
    };
    if (after.stubs === stubs) drop('never reached once it could have been cut');
    else if (answer instanceof Error)
      drop(`a request that ended there got no answer (${answer.message})`);
  }
  if (observed.cuts.length === 0) {
    throw new LabError(
      'ERR_REDLINE_STAIRS',
      'None of the stages can be cut, so there is nothing to measure.',
    );
  }
}

/** A crash in the words of the stages. */
export async function explained<T>(work: Promise<T>, { stages }: Spine): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof CrashUnderCut)) throw error;
    const { cut, message } = error.report;
    const name = stages[cut]?.name ?? `cut ${cut}`;
    throw new LabError(
      'ERR_REDLINE_STAIRS',
      `The app crashed when requests ended at "${name}": ${message}\nLeave that stage out: --skip ${JSON.stringify(name)}`,
      { cause: error },
    );
  }
}
