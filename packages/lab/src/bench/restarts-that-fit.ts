import type { Plan } from '../config/resolve-plan.ts';

/** Fewer say little of their own spread. */
export const enoughRestarts = 4;

/**
 * As many restarts as the time of a plan allows, by what those so far have taken; at most as many as it asks for.
 * @param now The clock, in milliseconds.
 */
export function restartsThatFit(
  {
    precision: { restarts: most, minutes },
    until: end,
    leastRestarts = enoughRestarts,
  }: Pick<Plan, 'precision' | 'until' | 'leastRestarts'>,
  now: () => number = Date.now,
): (done: number) => number {
  const startedAt = now();
  const until = end ?? (minutes === undefined ? undefined : startedAt + minutes * 60_000);
  return (done) => {
    if (until === undefined) return most;
    const at = now();
    const more = Math.floor((until - at) / ((at - startedAt) / done));
    return Math.min(most, Math.max(leastRestarts, done, done + more));
  };
}
