import type { Plan } from '../config/resolve-plan.ts';

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
