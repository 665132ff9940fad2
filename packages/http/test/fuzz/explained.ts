import type { Difference } from './explained/difference.ts';
import { endings } from './explained/endings.ts';
import { pauses } from './explained/pauses.ts';
import { refusals } from './explained/refusals.ts';

/** Differences that are meant, or that nobody can build on. Each has its reason, and covers as little as it can. */
const explained = [...refusals, ...endings, ...pauses];

/** @returns the reason, if there is one */
export function explain(difference: Difference): string | undefined {
  return explained.find(({ covers }) => covers(difference))?.reason;
}
