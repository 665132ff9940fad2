import type { Answer } from './answer.ts';
import type { AnswerOptions } from './flight.ts';

/** What to do with an answer that the store has. */
export type Use = 'as it is' | 'renew early' | 'renew' | 'not at all';

/**
 * Without `stale` and `early` the store alone knows how long a value is good for: two machines' clocks need not agree.
 */
export function useOf(answer: Answer, { stale = 0, early = false }: AnswerOptions): Use {
  if (answer.isOutdated) return isWithin(answer, stale) ? 'renew' : 'not at all';
  if (stale === 0 && early === false) return 'as it is';
  const leftMs = answer.madeAt + answer.freshMs - Date.now();
  if (leftMs <= 0) return leftMs > -stale ? 'renew' : 'not at all';
  if (early === 'now') return 'renew early';
  // XFetch, by Vattani, Chierichetti and Lowenstein: as probable as the time left is short against the cost.
  const isDue = early && answer.costMs * -Math.log(1 - Math.random()) >= leftMs;
  return isDue ? 'renew early' : 'as it is';
}

/* However long its ttl goes on: an invalidation ends that. */
function isWithin({ madeAt, freshMs }: Answer, stale: number): boolean {
  return stale > 0 && Date.now() < madeAt + freshMs + stale;
}
