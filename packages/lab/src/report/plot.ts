import { clamp, type Axis } from './axis.ts';
import type { Estimate } from './reading.ts';
import { markup, type Markup } from './markup.ts';

/**
 * Draws the marks of one plotted cell. x is in per cent and y in pixels, without a viewBox: text never scales with the column and
 * strokes never stretch.
 */
export function plotCell(title: string, description: string, marks: Markup): Markup {
  return markup`<svg class="m" role="img"><title>${title}</title><desc>${description}</desc>${marks}</svg>`;
}

/** Draws an interval as a line with caps; an arrowhead marks the end where it leaves the axis. Undefined for a point. */
export function whisker(axis: Axis, estimate: Estimate): Markup | undefined {
  if (!(estimate.high > estimate.low)) return undefined;
  const low = axis.at(estimate.low);
  const high = axis.at(estimate.high);
  const cut = `${low < 0 ? ' cl' : ''}${high > 1 ? ' cr' : ''}`;
  return markup`<line class="${estimate.reading}${cut}" x1="${share(low)}" x2="${share(high)}"/>`;
}

export function dot(axis: Axis, estimate: Estimate): Markup {
  return markup`<circle class="${estimate.reading}" cx="${share(axis.at(estimate.value))}"/>`;
}

/** Draws a bar between two values, in either order. */
export function bar(axis: Axis, from: number, estimate: Estimate): Markup {
  const ends = [axis.at(from), axis.at(estimate.value)].map(clamp) as [number, number];
  const [start, end] = ends.toSorted((a, b) => a - b) as [number, number];
  const x = start === 0 ? undefined : markup` x="${share(start)}"`;
  return markup`<rect class="${estimate.reading}"${x} width="${share(end - start)}"/>`;
}

/** Draws labels and ticks for the header of a column. */
export function axisHeader(axis: Axis): Markup {
  const ticks = axis.ticks.map(({ value, label }) => {
    const place = axis.at(value);
    const anchor = place < 0.04 ? 'start' : place > 0.96 ? 'end' : 'middle';
    const x = share(place);
    return markup`<text x="${x}" y="13" text-anchor="${anchor}">${label}</text><line class="tk" x1="${x}" x2="${x}" y1="16" y2="20"/>`;
  });
  return markup`<svg class="ax" height="20" aria-hidden="true">${ticks}</svg>`;
}

/** Draws the grid, the reference line and the band of no difference of a column as one CSS background. */
export function plotBackground(
  axis: Axis,
  reference?: number,
  band?: { low: number; high: number },
): string {
  const line = (colour: string, value: number): string =>
    `linear-gradient(var(--${colour}) 0 0) ${share(axis.at(value))}/1px 100%`;
  const layers = [
    ...(reference === undefined ? [] : [line('mark', reference)]),
    ...axis.ticks
      .filter(({ value }) => value !== reference)
      .map(({ value }) => line('grid', value)),
  ];
  if (band) {
    const [low, high] = [share(clamp(axis.at(band.low))), share(clamp(axis.at(band.high)))];
    layers.push(`linear-gradient(90deg,#0000 ${low},var(--band) 0 ${high},#0000 0)`);
  }
  return layers.join(',');
}

export function share(fraction: number): string {
  return `${Number((Math.min(1, Math.max(0, fraction)) * 100).toFixed(2))}%`;
}
