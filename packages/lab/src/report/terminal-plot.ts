import type { Axis } from './axis.ts';
import { widthOf } from './columns.ts';
import type { Glyphs } from './glyphs.ts';
import type { Estimate } from './reading.ts';

/** Draws `├─●─┤` at its place on the axis, over the line of the base. */
export function plotLine(axis: Axis, estimate: Estimate, width: number, glyphs: Glyphs): string {
  const cells = Array.from({ length: width }, () => ' ');
  const cell = (value: number): number => Math.round(axis.at(value) * (width - 1));
  const inside = (at: number): number => Math.min(width - 1, Math.max(0, at));
  cells[inside(cell(1))] = glyphs.base;
  const [low, at, high] = [cell(estimate.low), inside(cell(estimate.value)), cell(estimate.high)];
  for (let index = inside(low); index <= inside(high); index++) cells[index] = glyphs.line;
  if (low < at) cells[inside(low)] = low < 0 ? glyphs.cutLow : glyphs.start;
  if (high > at) cells[inside(high)] = high >= width ? glyphs.cutHigh : glyphs.end;
  cells[at] = estimate.reading === 'unresolved' ? glyphs.hollow : glyphs.dot;
  return cells.join('');
}

/** Draws the axis labels, each centred over its cell; a label that would touch its neighbour is left out, except 1. */
export function axisLine(axis: Axis, width: number): string {
  const cells = Array.from({ length: width }, () => ' ');
  const ordered = axis.ticks.toSorted((a, b) => Number(b.value === 1) - Number(a.value === 1));
  for (const { value, label } of ordered) {
    const length = widthOf(label);
    const centred = Math.round(axis.at(value) * (width - 1)) - Math.floor(length / 2);
    const start = Math.min(width - length, Math.max(0, centred));
    const around = cells.slice(Math.max(0, start - 1), start + length + 1);
    if (around.some((character) => character !== ' ')) continue;
    [...label].forEach((character, index) => {
      cells[start + index] = character;
    });
  }
  return cells.join('');
}

/** Draws a bar that starts on a whole cell and ends in eighths; an estimate without a proven size keeps a mark at its place. */
export function barLine(
  axis: Axis,
  from: number,
  { value, reading }: Estimate,
  width: number,
  { barSteps, marks, hollow }: Glyphs,
): string {
  const cell = Math.round(axis.at(Math.min(from, value)) * width);
  const start = ' '.repeat(Math.min(width - 1, Math.max(0, cell)));
  if (reading === 'same') return start + marks.same;
  if (reading === 'unresolved' || value <= from) return start + hollow;
  const eighths = barSteps.length;
  const steps = Math.max(1, Math.round((axis.at(value) - axis.at(from)) * width * eighths));
  const part = steps % eighths;
  return start + barSteps.at(-1)!.repeat(Math.floor(steps / eighths)) + (barSteps[part - 1] ?? '');
}
