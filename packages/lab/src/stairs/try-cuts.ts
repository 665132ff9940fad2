import type { RequestConfig } from '../config/types.ts';
import { LabError } from '../errors.ts';
import type { Endpoint } from '../load/endpoint.ts';
import { send } from '../servers/contract.ts';
import { checkRoute } from './trace-request.ts';
import type { StairsObservations, StairsPlan } from './plan.ts';
import { whole } from './preload/protocol.ts';
import { FatalCut, type Session } from './session.ts';

type Request = Required<RequestConfig>;

const cutTimeoutMs = 3_000;
/** More than an app's usual pools: if each request kept one connection, none would be left. */
const requestsPerCut = 32;
const atOnce = 8;

/**
 * Ends some requests at each cut before there is load: an app that fails at a cut should show it in a second, not in a minute.
 * @throws {FatalCut} when the app no longer serves whole requests
 */
export async function tryCuts(
  session: Session,
  { target }: StairsPlan,
  observed: StairsObservations,
): Promise<void> {
  const { stages } = observed.commonPath;
  // The first requests of a fresh server may take another path.
  await checkRoute(session, target.request);
  for (const cut of observed.cuts) {
    const { stubs } = await session.ask({ type: 'hold', cut }, 'held');
    const failure = await sendEndedRequests(session.server, target.request);
    const after = await session.ask({ type: 'hold', cut: whole }, 'held');
    const drop = (reason: string): void => {
      observed.cuts = observed.cuts.filter((each) => each !== cut);
      observed.leftOut.push({ name: stages[cut]!.name, reason });
    };
    if (after.stubs === stubs) drop('never reached during tracing');
    else await requireResponsive(session, target.request, cut);
    if (failure) drop(`a request that ended there got no response (${failure.message})`);
  }
  requireCuts(observed);
}

async function sendEndedRequests(server: Endpoint, request: Request): Promise<Error | undefined> {
  for (let done = 0; done < requestsPerCut; done += atOnce) {
    const answers = await Promise.all(
      Array.from({ length: atOnce }, () =>
        send(server, request, { timeoutMs: cutTimeoutMs }).catch((error: Error) => error),
      ),
    );
    const failure = answers.find((answer) => answer instanceof Error);
    if (failure) return failure;
  }
  return undefined;
}

/** Checks that a whole request still succeeds: it waits for any resource that ended requests hold. */
async function requireResponsive(session: Session, request: Request, cut: number): Promise<void> {
  const answer = await send(session.server, request, { timeoutMs: cutTimeoutMs }).catch(
    (error: Error) => error,
  );
  if (session.server.hasEnded) throw await session.crash();
  if (!(answer instanceof Error) && answer.status < 400) return;
  const what = answer instanceof Error ? answer.message : `status ${answer.status}`;
  throw new FatalCut({
    cut,
    message: `the app no longer responds after ${requestsPerCut} requests ended there (${what}): it waits for resources they hold`,
  });
}

export function requireCuts({ cuts, leftOut }: StairsObservations): void {
  if (cuts.length > 0) return;
  const reasons = leftOut.map(({ name, reason }) => `\n  ${name}: ${reason}`);
  throw new LabError(
    'ERR_REDLINE_STAIRS',
    `No stage can be cut, so there is nothing to measure.${reasons.join('')}`,
  );
}
