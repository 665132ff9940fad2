import type { BenchResult, Interval } from '../result.ts';
import { about, fixed, percent, plural, range } from './format.ts';
import { markup, type Markup } from './markup.ts';
import { type Estimate, type Reading, WORDS } from './reading.ts';

/** The verdict word with its mark; the mark itself comes from the style sheet, so that it is not read aloud. */
export function verdictWord(reading: Reading, word: string = WORDS[reading]): Markup {
  return markup`<span class="v ${reading}">${word}</span>`;
}

export function blocksHint(estimate: Estimate): string | undefined {
  const { reading, blocksToSettle } = estimate;
  if (reading !== 'unresolved' || blocksToSettle === undefined || !Number.isFinite(blocksToSettle))
    return undefined;
  return `≈ ${about(blocksToSettle)} blocks`;
}

/** `33.1 µs less CPU per request [32.0, 34.1]`. */
export function savedWords(saved: Interval, decimals: number, unit: string): string {
  const less = saved.value >= 0;
  const size = less ? saved : { value: -saved.value, low: -saved.high, high: -saved.low };
  return `${fixed(size.value, decimals)} ${less ? unit.replace('*', 'less') : unit.replace('*', 'more')} ${range(size, decimals)}`;
}

export function title(name: string, note: string | undefined): string {
  return note === undefined || note === '' ? name : `${name}, ${note}`;
}

/** `3 restarts × 12 blocks`. */
export function rounds({ precision }: BenchResult): string {
  return `${plural(precision.restarts, 'restart')} × ${plural(precision.blocks, 'block')}`;
}

/** `2026-11-20 10:52 UTC`. */
export function dateOf(startedAt: string): string {
  const time = new Date(startedAt);
  if (Number.isNaN(time.getTime())) return startedAt;
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

export function noiseText(noise: { cpu: number; rps: number }): string {
  return `±\u00a0${percent(noise.rps)} rps, ±\u00a0${percent(noise.cpu)} CPU`;
}
