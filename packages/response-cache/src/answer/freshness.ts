import type { Answer } from './answer.ts';
import type { AnswerOptions } from './answer-options.ts';

/** The use of an answer found in the store. */
export type Use = 'as it is' | 'renew early' | 'renew' | 'not at all';

/**
 * Decides on the use of a stored answer. Without `stale` and `early` only the store decides how long a value is valid,
 * because the clocks of two machines may differ.
 */
export function useOf(answer: Answer, { stale = 0, early = false }: AnswerOptions): Use {
  if (answer.isOutdated) return isWithin(answer, stale) ? 'renew' : 'not at all';
  if (stale === 0 && early === false) return 'as it is';
  const leftMs = answer.madeAt + answer.freshMs - Date.now();
  if (leftMs <= 0) return leftMs > -stale ? 'renew' : 'not at all';
  if (early === 'now') return 'renew early';
  // XFetch, by Vattani, Chierichetti and Lowenstein: the shorter the time left relative to the cost, the more probable.
  const isDue = early && answer.costMs * -Math.log(1 - Math.random()) >= leftMs;
  return isDue ? 'renew early' : 'as it is';
}

/* For answers whose freshness a soft invalidation has ended, however much of the ttl is left. */
function isWithin({ madeAt, freshMs }: Answer, stale: number): boolean {
  return stale > 0 && Date.now() < madeAt + freshMs + stale;
}
