import type { Interval } from '../figures.ts';

const NARROW_SPACE = '\u202f';
const MINUS = '\u2212';
const FIGURE_SPACE = '\u2007';
const POINT_SPACE = '\u2008';
const MAX_DECIMALS = 3;

/** Formats with a true minus sign, narrow spaces between thousands, and the given number of decimals. */
export function fixed(value: number, decimals = 0): string {
  if (!Number.isFinite(value)) return '–';
  const digits = Math.abs(value).toFixed(decimals);
  const [whole = '', fraction] = digits.split('.');
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, NARROW_SPACE);
  const sign = value < 0 && Number(digits) !== 0 ? MINUS : '';
  return sign + grouped + (fraction === undefined ? '' : `.${fraction}`);
}

export function signed(value: number, decimals: number): string {
  const text = fixed(value, decimals);
  return value > 0 && Number(value.toFixed(decimals)) !== 0 ? `+${text}` : text;
}

/**
 * Returns the number of decimals an interval supports: its half-width shows in the last one. Negative if not even the units are
 * supported. One more if an end would print as 0 without being 0: readers look for intervals that exclude 0.
 */
function supportedDecimals(interval: Interval): number | undefined {
  const half = (interval.high - interval.low) / 2;
  if (!(half > 0) || !Number.isFinite(half)) return undefined;
  const decimals = Math.min(MAX_DECIMALS, Math.ceil(-Math.log10(half)));
  return hides(interval, Math.max(0, decimals))
    ? Math.min(MAX_DECIMALS, Math.max(0, decimals) + 1)
    : decimals;
}

/** True if a non-zero end prints as 0, or if 1 lies outside the interval but prints inside it. */
function hides({ low, high }: Interval, decimals: number): boolean {
  const [printedLow, printedHigh] = [low, high].map((figure) => Number(figure.toFixed(decimals)));
  if ((low !== 0 && printedLow === 0) || (high !== 0 && printedHigh === 0)) return true;
  return (low > 1 && printedLow! <= 1) || (high < 1 && printedHigh! >= 1);
}

/**
 * Returns one number of decimals for a whole column: the number that the better quarter of its intervals supports, or more if an
 * interval would print as a point.
 */
export function columnDecimals(intervals: readonly Interval[], fallback: number): number {
  const supported = intervals.map(supportedDecimals).filter((decimals) => decimals !== undefined);
  if (supported.length === 0) return fallback;
  const upper = supported.toSorted((a, b) => a - b)[Math.floor(supported.length * 0.75)];
  let decimals = Math.max(0, upper ?? fallback);
  for (const interval of intervals) {
    const own = supportedDecimals(interval);
    if (own !== undefined && (printsWrong(interval, decimals) || hides(interval, decimals))) {
      decimals = Math.max(decimals, own);
    }
  }
  return decimals;
}

/** True if rounding turns the interval into a point, or makes it several times as wide. */
function printsWrong({ low, high }: Interval, decimals: number): boolean {
  const width = high - low;
  const printed = Number(high.toFixed(decimals)) - Number(low.toFixed(decimals));
  return Math.abs(printed - width) >= width;
}

export interface ColumnText {
  value: string;
  /** Stands in for missing decimals, so that the decimal points align. */
  pad: string;
  /** `[1.24, 1.45]`; empty if the interval is a point by definition, like the base's own ratio. */
  range: string;
}

/**
 * Formats a column of estimates with aligned decimal points. A row whose interval is a hundred times coarser than the column keeps
 * its own decimals and is padded.
 */
export function estimateColumn(intervals: readonly Interval[], fallback: number): ColumnText[] {
  const column = columnDecimals(intervals, fallback);
  return intervals.map((interval) => {
    const own = supportedDecimals(interval);
    const decimals = own !== undefined && own <= column - 2 ? Math.max(0, own) : column;
    const missing = column - decimals;
    const point = decimals === 0 && missing > 0 ? POINT_SPACE : '';
    return {
      value: fixed(interval.value, decimals),
      pad: point + FIGURE_SPACE.repeat(missing),
      range: own === undefined ? '' : range(interval, decimals),
    };
  });
}

export function range(interval: { low: number; high: number }, decimals: number): string {
  return `[${fixed(interval.low, decimals)},\u00a0${fixed(interval.high, decimals)}]`;
}

/** Formats a fraction as per cent: one decimal below ten, none above, `0.4 %`. */
export function percent(fraction: number): string {
  const value = fraction * 100;
  return `${fixed(value, Math.abs(value) < 9.95 && !Number.isInteger(value) ? 1 : 0)}\u00a0%`;
}

/** Rounds to two digits: an extrapolation supports no more. */
export function about(count: number): string {
  const magnitude = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, count))) - 1);
  return fixed(Math.ceil(count / magnitude) * magnitude);
}

export function milliseconds(ms: number): string {
  return ms >= 1000 ? `${trimmed(ms / 1000)}\u00a0s` : `${trimmed(ms)}\u00a0ms`;
}

export function seconds(total: number): string {
  const rounded = Math.max(0, Math.round(total));
  const parts = {
    h: Math.floor(rounded / 3600),
    m: Math.floor(rounded / 60) % 60,
    s: rounded % 60,
  };
  if (parts.h > 0) return `${parts.h} h ${String(parts.m).padStart(2, '0')} m`;
  if (parts.m > 0) return `${parts.m} m ${String(parts.s).padStart(2, '0')} s`;
  return `${parts.s} s`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${fixed(count)} ${count === 1 ? one : many}`;
}

function trimmed(value: number): string {
  return fixed(value, Number.isInteger(value) ? 0 : 1);
}
