import type { Plan } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import { plural, seconds } from '../report/format.ts';
import type { Observations } from './observations.ts';

interface TimedRun {
  plan: Plan;
  observations: Observations;
  signal: AbortSignal;
}

/**
 * Measures the restarts of a plan, and ends before the last one where the time of the plan is over: with all restarts that are
 * complete, or with the complete blocks of the first one.
 * @throws {LabError} ERR_REDLINE_LOAD where not one block is complete by then
 */
export async function untilTimeIsOver(
  { plan, observations, signal }: TimedRun,
  measure: (restart: number, until: AbortSignal) => Promise<void>,
): Promise<void> {
  const { mostMs } = plan;
  const over = mostMs === undefined ? undefined : AbortSignal.timeout(Math.ceil(mostMs));
  const until = over === undefined ? signal : AbortSignal.any([signal, over]);
  let restart = 1;
  try {
    for (; restart <= plan.precision.restarts; restart++) {
      until.throwIfAborted();
      await measure(restart, until);
    }
  } catch (error) {
    if (signal.aborted || over?.aborted !== true) throw error;
    keepComplete(plan, observations, restart);
  }
}

/** What an interrupted restart has shown of some servers alone compares nothing. */
function keepComplete(plan: Plan, observations: Observations, interrupted: number): void {
  const planned = plan.precision.restarts;
  const after = `Stopped after ${seconds(plan.mostMs! / 1_000)}, twice the time it was expected to take,`;
  const isFirst = interrupted === 1;
  const blocks = isFirst ? completeBlocks(observations) : plan.precision.blocks;
  if (blocks === 0) {
    throw new LabError(
      'ERR_REDLINE_LOAD',
      `${after} before one block of its first restart was complete. Stop other work on the machine, choose a route that takes less time, or give it more with --seconds.`,
    );
  }
  const isComplete = (each: { restart: number; block?: number }): boolean =>
    isFirst ? (each.block ?? 0) <= blocks : each.restart < interrupted;
  observations.slices = observations.slices.filter(isComplete);
  observations.voidSlices = observations.voidSlices.filter(isComplete);
  observations.latencies = observations.latencies.filter(isComplete);
  observations.memory = observations.memory.filter(isComplete);
  plan.precision = { ...plan.precision, blocks, restarts: isFirst ? 1 : interrupted - 1 };
  const known = isFirst
    ? `${plural(blocks, 'block')} of the first restart`
    : `${interrupted - 1} of ${planned} restarts`;
  observations.stopped = `${after} with ${known}.`;
}

/** Blocks that every server has. */
function completeBlocks({ contestants, skipped, slices }: Observations): number {
  const running = contestants.filter(({ name }) => !skipped.has(name));
  const ofEach = running.map(
    ({ name }) => slices.filter(({ variant, block }) => variant === name && block > 0).length,
  );
  return Math.min(...ofEach);
}
