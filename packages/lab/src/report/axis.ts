import { fixed } from './format.ts';
import { textWidth } from './text-width.ts';

export interface Tick {
  value: number;
  label: string;
}

export interface Axis {
  from: number;
  to: number;
  ticks: Tick[];
  /** Returns the position on the axis, 0 at its start and 1 at its end; outside 0 to 1 for values beyond the axis. */
  at(value: number): number;
}

/** Min span: on a narrower axis, noise would look like a result. */
const MIN_LOG_SPAN = Math.log(1.25);
const LOG_PADDING = 0.04;
const MIN_TICKS = 3;
const MAX_TICKS = 6;
/** Width of the narrowest plot, font size of its labels, and min gap between two labels. */
const PLOT_PIXELS = 150;
const LABEL_PIXELS = 12;
const LABEL_SPACE = 6;

const LINEAR_STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];
const LOG_FAMILIES = [[1, 1.5, 2, 3, 5, 7], [1, 2, 5], [1, 3], [1]];

/** Returns an axis for ratios: 0.5 × and 2 × are equally far from 1, and 1 is always on the axis. */
export function logAxis(values: readonly number[]): Axis {
  const usable = [1, ...values].filter((value) => Number.isFinite(value) && value > 0);
  let low = Math.log(Math.min(...usable));
  let high = Math.log(Math.max(...usable));
  const missing = Math.max(0, MIN_LOG_SPAN - (high - low)) / 2;
  low -= missing;
  high += missing;
  const padding = (high - low) * LOG_PADDING;
  low -= padding;
  high += padding;
  const at = (value: number): number => (Math.log(value) - low) / (high - low);
  const from = Math.exp(low);
  const to = Math.exp(high);
  return { from, to, at, ticks: logTicks(from, to, at).map(toTick) };
}

/** Returns an axis for bars, which starts at zero and ends on a tick. */
export function linearAxis(values: readonly number[]): Axis {
  const max = Math.max(0, ...values.filter(Number.isFinite)) || 1;
  const step = linearStep(max);
  const count = Math.ceil(max / step - 1e-9);
  const to = step * count;
  const ticks = Array.from({ length: count + 1 }, (_, index) => toTick(tidy(index * step)));
  return { from: 0, to, at: (value) => value / to, ticks };
}

function linearStep(max: number): number {
  const magnitude = 10 ** Math.floor(Math.log10(max));
  let step = magnitude;
  for (const factor of [0.1, 0.2, 0.25, 0.5, 1, 2, 2.5, 5]) {
    const candidate = tidy(magnitude * factor);
    const count = Math.ceil(max / candidate - 1e-9);
    if (count >= MAX_TICKS) continue;
    if (count + 1 < MIN_TICKS) break;
    step = candidate;
    const last = textWidth(toTick(count * step).label) * LABEL_PIXELS;
    // The last label ends with the axis instead of being centred on it.
    if (PLOT_PIXELS / count >= last * 1.5 + LABEL_SPACE) break;
  }
  return step;
}

function logTicks(from: number, to: number, at: (value: number) => number): number[] {
  const inside = (value: number): boolean => value >= from && value <= to;
  const candidates = [
    ...LINEAR_STEPS.filter((step) => (to - from) / step < 20).map((step) =>
      multiples(step, from, to),
    ),
    ...LOG_FAMILIES.map((family) => decades(family, from, to)),
    decades([1], from, to, 100),
  ].map((ticks) => ticks.filter(inside));

  let best: number[] = [];
  let bestScore = -Infinity;
  for (const ticks of candidates) {
    if (ticks.length < MIN_TICKS || ticks.length > MAX_TICKS) continue;
    const gaps = ticks.slice(1).map((value, index) => at(value) - at(ticks[index] ?? value));
    // Even spacing reads best, then more ticks; a ratio axis without 1 is hard to read, and overlapping labels are worse still.
    const score =
      (fits(ticks, gaps) ? 20 : 0) +
      (ticks.includes(1) ? 10 : 0) +
      Math.min(...gaps) / Math.max(...gaps) +
      ticks.length / MAX_TICKS;
    if (score > bestScore) [best, bestScore] = [ticks, score];
  }
  return best.length > 0
    ? best
    : [from, 1, to].filter((value, index, all) => all.indexOf(value) === index);
}

function fits(ticks: readonly number[], gaps: readonly number[]): boolean {
  const widths = ticks.map((value) => textWidth(toTick(value).label) * LABEL_PIXELS);
  return gaps.every((gap, index) => {
    const needed = ((widths[index] ?? 0) + (widths[index + 1] ?? 0)) / 2 + LABEL_SPACE;
    return gap * PLOT_PIXELS >= needed;
  });
}

function multiples(step: number, from: number, to: number): number[] {
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) =>
    tidy((first + index) * step),
  ).filter((value) => value > 0);
}

function decades(family: readonly number[], from: number, to: number, base = 10): number[] {
  const first = Math.floor(Math.log(from) / Math.log(base));
  const last = Math.ceil(Math.log(to) / Math.log(base));
  const ticks: number[] = [];
  for (let power = first; power <= last; power++) {
    for (const digit of family) ticks.push(tidy(digit * base ** power));
  }
  return ticks;
}

function toTick(value: number): Tick {
  const decimals = (String(Number(value.toPrecision(3))).split('.')[1] ?? '').length;
  return { value, label: fixed(value, value >= 100 ? 0 : decimals) };
}

function tidy(value: number): number {
  return Number(value.toPrecision(9));
}

/** Moves values beyond either end of the axis to that end. */
export function clamp(fraction: number): number {
  return Math.min(1, Math.max(0, fraction));
}
