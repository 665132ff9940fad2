import { type Answer, label, send } from '../servers/contract.ts';
import type { RequestConfig } from '../config/types.ts';
import { LabError } from '../errors.ts';
import type { Context } from './plan.ts';
import type { Trace } from './preload/protocol.ts';
import { Session } from './session.ts';
import type { CommonPath } from './common-path.ts';
import type { StairsTarget } from './target.ts';

/** Traces of a single request; several requests are traced once each. */
const traces = 3;

/** Records the functions that a few requests enter, in a server where every function reports its entry. */
export async function traceRequest(target: StairsTarget, context: Context): Promise<Trace[]> {
  await using session = await Session.start(
    target,
    { phase: 'trace', stages: {}, guards: [], followsAsync: true },
    context,
  );
  const asked = target.replayed?.traced ?? [target.request];
  for (const request of asked) await checkRoute(session, request);
  const seen: Trace[] = [];
  for (let count = 0; count < Math.max(traces, asked.length); count++) {
    await session.ask({ type: 'trace' }, 'tracing');
    await send(session.server, asked[count % asked.length]!);
    seen.push((await session.ask({ type: 'report' }, 'trace')).trace);
  }
  return seen;
}

/**
 * Starts the same app with only its stages changed.
 * @param cuts Stages at which requests may end. A request in flight when a cut takes effect ends at the next of them.
 */
export function startCut(
  target: StairsTarget,
  commonPath: CommonPath,
  cuts: readonly number[],
  context: Context,
): Promise<Session> {
  const stages = Object.fromEntries(cuts.map((cut) => [commonPath.stages[cut]!.id, cut]));
  const { guards, followsAsync } = commonPath;
  return Session.start(target, { phase: 'cut', stages, guards, followsAsync }, context);
}

/** Enough to fill caches and finish lazy set-up. */
const warmRequests = 10;

/**
 * Checks that the route responds successfully: a refusal has fewer stages than a success.
 * @throws {LabError} ERR_REDLINE_STAIRS with the remedy in its message
 */
export async function checkRoute(
  session: Session,
  request: Required<RequestConfig>,
): Promise<void> {
  for (let count = 0; count < warmRequests; count++) {
    const answer = await send(session.server, request).catch(async (error: Error) => {
      throw await session.server.failure(`did not answer ${label(request)} (${error.message})`);
    });
    requireAnswer(answer, request);
  }
}

function requireAnswer({ status, body }: Answer, request: Required<RequestConfig>): void {
  if (status >= 200 && status < 400) return;
  const what = `${label(request)} answers ${status}`;
  const said = body.length === 0 ? '' : ` The response: ${body.subarray(0, 200).toString()}`;
  throw new LabError('ERR_REDLINE_STAIRS', `${what}${advice(status, request)}${said}`);
}

function advice(status: number, { headers }: Required<RequestConfig>): string {
  if (status === 401 || status === 403) {
    return 'authorization' in headers
      ? ': the route needs authorisation, and the credentials sent are not sufficient.'
      : ": the route needs authorisation; send it with -H 'authorization: Bearer …'.";
  }
  if (status === 404) return ': no such route; check the path.';
  if (status === 405) return ': the route takes a different method; give it with --method.';
  if (status === 429) return ': the app limits its rate; disable that for the measurement.';
  if (status >= 500) return ': a failing request cannot be measured.';
  return ': the route refuses this request; check its headers and body.';
}
