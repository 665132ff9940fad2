import type { Interval, Verdict } from '../figures.ts';

/** A verdict as it is shown: with its direction, or withheld because the A/A control cannot vouch for it. */
export type Reading = 'base' | 'better' | 'worse' | 'same' | 'unresolved' | 'withheld';

export interface Estimate extends Interval {
  reading: Reading;
  /** Only when unresolved: blocks per variant that would settle it. */
  restartsToSettle?: number;
}

export const WORDS: Record<Reading, string> = {
  base: 'base',
  better: 'changed',
  worse: 'changed',
  same: 'same',
  unresolved: 'unresolved',
  withheld: 'withheld',
};

export function readingOf(verdict: Verdict | 'base', ratio: Interval, trusted: boolean): Reading {
  if (verdict === 'base') return 'base';
  if (!trusted) return 'withheld';
  if (verdict === 'changed') return ratio.value > 1 ? 'better' : 'worse';
  return verdict;
}

/** Edges of the band of no difference, as ratios: as far down as up, the way ratios count. */
export function bandEdges(halfWidth: number): { low: number; high: number } {
  return { low: 1 / (1 + halfWidth), high: 1 + halfWidth };
}

/** For a reader who does not see the mark. */
export function spokenWord(reading: Reading): string {
  return reading === 'better' || reading === 'worse' ? `changed for the ${reading}` : reading;
}
