import type { Difference, Explanation } from './explained/difference.ts';
import { endings } from './explained/endings.ts';
import { pauses } from './explained/pauses.ts';
import { refusals } from './explained/refusals.ts';

/** Differences that are meant, or that nobody can build on. Each has its reason, and covers as little as it can. */
const explained = [...refusals, ...endings, ...pauses];

/** @returns those that may be why; whether one is, its `remedies` show */
export function explanationsOf(difference: Difference): Explanation[] {
  return explained.filter(({ covers }) => covers(difference));
}
