import { isDeepStrictEqual } from 'node:util';

/**
 * Whether two programs that vary do the same: the second never did what the first did not, and has done what the first
 * does as a rule. Without the latter, what Node does once in five times would excuse what the engine does every time.
 */
export function usuallyAgree(first: readonly unknown[], second: readonly unknown[]): boolean {
  const isIn = (all: readonly unknown[]) => (one: unknown) =>
    all.some((other) => isDeepStrictEqual(one, other));
  return second.every(isIn(first)) && isIn(second)(usual(first));
}

/** The most frequent of them; of several, the one that came first. */
function usual(outcomes: readonly unknown[]): unknown {
  const count = (one: unknown) => outcomes.filter((other) => isDeepStrictEqual(one, other)).length;
  return outcomes.toSorted((one, other) => count(other) - count(one))[0];
}
