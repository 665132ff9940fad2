import type { Plan } from '../config/resolve-plan.ts';

/** The time decides on the restarts: these are the most. */
const inTurns = { restarts: 12, blocks: 2, sliceMs: 100, warmupMs: 1_000, latencyMs: 200 };
const withoutTurns = { restarts: 12, blocks: 6, sliceMs: 200, warmupMs: 1_000, latencyMs: 300 };

/** What fits into a minute or less. */
export function precisionWithin({ turns }: Pick<Plan, 'turns'>): Plan['precision'] {
  return turns ? inTurns : withoutTurns;
}
