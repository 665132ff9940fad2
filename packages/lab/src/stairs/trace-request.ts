import { send } from '../servers/contract.ts';
import { checkRoute } from './check-route.ts';
import type { Context } from './plan.ts';
import type { Trace } from './preload/protocol.ts';
import { Session } from './session.ts';
import type { Spine } from './spine.ts';
import type { StairsTarget } from './target.ts';

/** Of one request; of several, each once. */
const traces = 3;

/** What a few requests entered, in a server that writes everything down. */
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
 * The same app, with nothing but its stages touched.
 * @param cuts Where requests may end. What is under way when a cut comes into force ends at the next of them.
 */
export function startCut(
  target: StairsTarget,
  spine: Spine,
  cuts: readonly number[],
  context: Context,
): Promise<Session> {
  const stages = Object.fromEntries(cuts.map((cut) => [spine.stages[cut]!.id, cut]));
  const { guards, followsAsync } = spine;
  return Session.start(target, { phase: 'cut', stages, guards, followsAsync }, context);
}
