import { send } from '../servers/contract.ts';
import { checkRoute } from './check-route.ts';
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
