import type { Plan } from '../../config/resolve-plan.ts';
import type { LoadOutcome } from '../../load/closed-loop.ts';
import { withSession } from '../../load/endpoint.ts';
import type { Server } from '../../servers/server.ts';
import { inParallel } from '../../system/in-parallel.ts';
import type { Pinning } from '../../system/pinning.ts';
import type { Observations, RunListener } from '../observations.ts';

interface WarmUp {
  plan: Plan;
  servers: readonly Server[];
  observations: Pick<Observations, 'generator'>;
  pinning: Pinning;
  listener: RunListener;
  /** Number of the restart. */
  number: number;
  signal: AbortSignal;
}

/** wrk ends at tenths of a second. */
const minWarmUpMs = 100;
/** Limit for slow routes: one of 50 ms would be warmed up for minutes. */
const maxWarmUpFactor = 3;

/** Warms up on all cores, several servers at a time: here the compiler has to finish, no matter how fast. */
export async function warmUp({
  plan,
  servers,
  observations: { generator },
  pinning,
  listener,
  number,
  signal,
}: WarmUp): Promise<number | undefined> {
  if (plan.precision.warmupMs === 0) return undefined;
  const rates: number[] = [];
  await inParallel(servers, pinning.coreCount, async (server) => {
    const { host, port } = server;
    signal.throwIfAborted();
    listener.phase('warming up', number, server.name);
    const load = async (durationMs: number): Promise<LoadOutcome> => {
      const outcome = await generator.run({
        ...plan,
        requests: withSession(server, plan.requests),
        host,
        port,
        durationMs,
        signal,
      });
      server.dropOutput();
      return outcome;
    };
    const first = await load(plan.precision.warmupMs);
    const moreMs = moreWarmUpMs(first, plan.precision);
    const { requests, seconds } = moreMs > 0 ? await load(moreMs) : first;
    // A server without any response is left out later, and says nothing about the others.
    if (requests > 0) rates.push(requests / seconds);
  });
  return rates.length === 0 ? undefined : Math.min(...rates);
}

/** Returns the missing warm-up. The compiler counts calls: a slow server, or one that shared its core, has had fewer of them. */
export function moreWarmUpMs(
  { requests, seconds }: Pick<LoadOutcome, 'requests' | 'seconds'>,
  { warmupMs, warmupRequests = 0 }: Pick<Plan['precision'], 'warmupMs' | 'warmupRequests'>,
): number {
  const missing = warmupRequests - requests;
  if (requests === 0 || missing <= 0) return 0;
  const neededMs = (missing / requests) * seconds * 1_000;
  return Math.max(minWarmUpMs, Math.min(neededMs, maxWarmUpFactor * warmupMs));
}
