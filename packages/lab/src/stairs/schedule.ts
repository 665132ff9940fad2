import type { Random } from '../stats/random.ts';
import { shuffled } from '../stats/random.ts';

/** Every round holds each cut once, in a new order: what drifts falls on all of them alike. */
export function shuffledRounds(
  cuts: readonly number[],
  rounds: number,
  random: Random,
): number[][] {
  return Array.from({ length: rounds }, () => shuffled(cuts, random));
}
