import type { Interval, Verdict } from '../figures.ts';

/** A verdict as displayed: with its direction, or withheld because the A/A control cannot confirm it. */
export type Reading = 'base' | 'better' | 'worse' | 'same' | 'unresolved' | 'withheld';

export interface Estimate extends Interval {
  reading: Reading;
  /** Blocks per variant that would settle it; only when unresolved. */
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

/** Returns the edges of the band of no difference, as ratios: equally far up and down on a ratio scale. */
export function bandEdges(halfWidth: number): { low: number; high: number } {
  return { low: 1 / (1 + halfWidth), high: 1 + halfWidth };
}

/** Describes a reading in words, for screen readers. */
export function spokenWord(reading: Reading): string {
  return reading === 'better' || reading === 'worse' ? `changed for the ${reading}` : reading;
}
