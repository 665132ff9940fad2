import type { Plan } from '../../config/resolve-plan.ts';
import { LabError } from '../../errors.ts';
import { plural, seconds } from '../../report/format.ts';
import type { Observations } from '../observations.ts';

interface TimedRun {
  plan: Plan;
  observations: Observations;
  signal: AbortSignal;
}

const pollMs = 50;

/**
 * Measures the restarts of a plan, and stops early when the plan's time is over: with all complete restarts or, if a crowded
 * machine does not complete the first, with its complete blocks.
 * @throws {LabError} ERR_REDLINE_LOAD when no block is complete
 */
export async function untilTimeIsOver(
  { plan, observations, signal }: TimedRun,
  measure: (restart: number, until: AbortSignal) => Promise<void>,
): Promise<void> {
  const { timeLimitMs, waitsForFirst } = plan;
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  let restart = 1;
  const startedAt = performance.now();
  const isOver = (): boolean => {
    if (performance.now() - startedAt <= timeLimitMs!) return false;
    return restart > 1 || waitsForFirst === undefined || completeBlocks(observations) > 0;
  };
  const check = (): void => {
    if (isOver()) over.abort(new Error('the time is over'));
  };
  const clock = timeLimitMs === undefined ? undefined : setInterval(check, pollMs);
  clock?.unref();
  try {
    for (; restart <= plan.precision.restarts; restart++) {
      until.throwIfAborted();
      await measure(restart, until);
    }
  } catch (error) {
    if (signal.aborted || !over.signal.aborted) throw error;
    const spentMs = performance.now() - startedAt;
    keepComplete(plan, observations, { interrupted: restart, spentMs });
  } finally {
    clearInterval(clock);
  }
}

/** Drops the figures of an interrupted restart: those of some servers alone compare nothing. */
function keepComplete(
  plan: Plan,
  observations: Observations,
  { interrupted, spentMs }: { interrupted: number; spentMs: number },
): void {
  const planned = plan.precision.restarts;
  const isFirst = interrupted === 1;
  const blocks = isFirst ? completeBlocks(observations) : plan.precision.blocks;
  const stopped = `Stopped after ${seconds(spentMs / 1_000)} of measuring, at twice the time that was announced`;
  if (blocks === 0) {
    throw new LabError(
      'ERR_REDLINE_LOAD',
      `${stopped}: nothing was measured completely by then. Stop other work on the machine, or give it more time with --seconds.`,
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
  observations.stopped = `${stopped}, with ${known}.`;
}

/** Counts the blocks that every server has completed. */
function completeBlocks({ contestants, skipped, slices }: Observations): number {
  const running = contestants.filter(({ name }) => !skipped.has(name));
  const ofEach = running.map(
    ({ name }) => slices.filter(({ variant, block }) => variant === name && block > 0).length,
  );
  return Math.min(...ofEach);
}

/** Fewer restarts say little about their own spread. */
export const enoughRestarts = 4;

/**
 * Returns the number of restarts that the time of a plan allows, judging by those so far; at most as many as it asks for.
 * @param now The clock, in milliseconds.
 */
export function restartsThatFit(
  {
    precision: { restarts: maxRestarts, minutes },
    until: end,
    minRestarts = enoughRestarts,
  }: Pick<Plan, 'precision' | 'until' | 'minRestarts'>,
  now: () => number = Date.now,
): (done: number) => number {
  const startedAt = now();
  const until = end ?? (minutes === undefined ? undefined : startedAt + minutes * 60_000);
  return (done) => {
    if (until === undefined) return maxRestarts;
    const at = now();
    const more = Math.floor((until - at) / ((at - startedAt) / done));
    return Math.min(maxRestarts, Math.max(minRestarts, done, done + more));
  };
}
