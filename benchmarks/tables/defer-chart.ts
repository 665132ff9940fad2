// Draws the article's grid: requests per minute and latency of each way to do the job, on Express and Fastify. Uses the
// drawing kit of the lab's reports, in a wide version and one for phones.
import { type Interval, judge } from '@redline/lab';
import {
  type Axis,
  coloursOf,
  fitText,
  fixed,
  linearAxis,
  logAxis,
  markup,
  type Markup,
  raw,
  SANS,
  textWidth,
} from '@redline/lab/drawing';
import type { GridResult, GridVariant } from '../defer-grid/grid-result.ts';
import { against, minRestarts, platforms, restartRps, sinks } from './defer-rows.ts';

/** One group of the scenario. */
export interface Panel {
  readonly sink: string;
  readonly connections: number;
}

interface Row {
  readonly name: string;
  readonly rpm: number;
  readonly latencyMs: number;
  /** Ratio to the interceptor on the same platform; undefined with too few restarts. */
  readonly ratio: Interval | undefined;
  /** The ratio as text, or the ratios of too few restarts. */
  readonly against: string;
  /** Requests per minute of each restart, if there are too few. */
  readonly restarts: readonly number[];
  readonly reading: 'base' | 'better' | 'worse' | 'same' | 'unresolved';
  /** Ratios up to this do not count as a difference, by the A/A control. */
  readonly band: number;
  /** True for the first row of its platform. */
  readonly isFirst: boolean;
}

interface Layout {
  readonly width: number;
  readonly rowHeight: number;
  /** Offset of the plots within their row. */
  readonly plotY: number;
  readonly rpm: Place;
  readonly rpmTextX: number;
  readonly latency: Place;
  readonly latencyTextX: number;
  readonly ratioX: number;
}

interface Place {
  readonly x: number;
  readonly width: number;
}

const edge = 20;
const layouts: Readonly<Record<'wide' | 'narrow', Layout>> = {
  wide: {
    width: 820,
    rowHeight: 22,
    plotY: 11,
    rpm: { x: 162, width: 196 },
    rpmTextX: 428,
    ratioX: 572,
    latency: { x: 592, width: 156 },
    latencyTextX: 800,
  },
  // The name and the ratio share a line, the plots the next.
  narrow: {
    width: 390,
    rowHeight: 42,
    plotY: 30,
    rpm: { x: edge, width: 118 },
    rpmTextX: 208,
    ratioX: 370,
    latency: { x: 226, width: 98 },
    latencyTextX: 370,
  },
};
const ways: Readonly<Record<string, string>> = {
  blocking: 'awaited',
  interceptor: 'interceptor',
  memory: 'memory',
  process: 'process',
  disk: 'disk',
  plain: 'without a job',
};
const marks: Readonly<Record<Row['reading'], string>> = {
  base: '',
  better: '▲ ',
  worse: '▼ ',
  same: '= ',
  unresolved: '○ ',
};
const panelHeadHeight = 46;

/** Draws these groups on common scales. */
export function deferChart(
  result: GridResult,
  title: string,
  panels: readonly Panel[],
  size: 'wide' | 'narrow',
): string {
  const layout = layouts[size];
  const drawn = panels.map((panel) => ({ panel, rows: rowsOf(result, panel) }));
  const all = drawn.flatMap(({ rows }) => rows);
  const rpmAxis = linearAxis(
    all.flatMap(({ rpm, restarts }) => [rpm, ...restarts].map((each) => each / 1_000)),
  );
  const latencyAxis = logAxis(
    all.flatMap(({ latencyMs, rpm, restarts }) => [
      latencyMs,
      ...restarts.map((each) => (latencyMs * rpm) / each),
    ]),
  );
  const lines = fitText(title, (layout.width - 2 * edge) / 16, 2, true);
  const headY = 36 + lines.length * 20;
  const ratioY = size === 'wide' ? headY : headY + 16;
  let y = ratioY + 12;
  const body = drawn.map(({ panel, rows }) => {
    const top = y;
    y += panelHeadHeight + rows.length * layout.rowHeight;
    return drawPanel(panel, rows, top, layout, rpmAxis, latencyAxis);
  });
  const foot = footLines(result, panels, layout.width - 2 * edge);
  const height = y + 18 + foot.length * 16 + 8;
  return markup`<svg xmlns="http://www.w3.org/2000/svg" width="${layout.width}" height="${height}" viewBox="0 0 ${layout.width} ${height}" role="img" aria-labelledby="t d"><title id="t">${title}</title><desc id="d">${describe(drawn)}</desc>
<style>${raw(style)}</style>
<rect class="bg" width="${layout.width}" height="${height}" rx="6"/>
${lines.map((line, index) => markup`<text class="h" x="${edge}" y="${30 + index * 20}">${line}</text>`)}
<text class="s" x="${layout.rpm.x}" y="${headY}">1 000 requests/min</text><text class="s e" x="${layout.ratioX}" y="${ratioY}">× interceptor</text><text class="s" x="${layout.latency.x}" y="${headY}">latency, ms (log)</text>
${body}<path class="edge" d="M${edge} ${y}H${layout.width - edge}"/>
${foot.map((line, index) => markup`<text class="s" x="${edge}" y="${y + 22 + index * 16}">${line}</text>`)}
</svg>
`.text;
}

/** Returns the measured rows of a group, in the order of the tables. */
export function rowsOf(result: GridResult, { sink, connections }: Panel): Row[] {
  const group = `${sink}-c${connections}`;
  const precision = result.groups?.find(({ name }) => name === group)?.precision;
  return Object.entries(platforms).flatMap(([platform, platformName]) => {
    const rows = Object.entries(ways).flatMap(([way, wayName]) => {
      const nameOf = (each: string): string => `${platform}-${each}/${sink}/c${connections}`;
      const variant = find(result, nameOf(way));
      if (variant === undefined || precision === undefined) return [];
      const base = nameOf('interceptor');
      const { interval, text } = against(result.slices, { variant: variant.name, other: base });
      const isFew = precision.restarts < minRestarts;
      return {
        name: `${platformName}, ${wayName}`,
        rpm: variant.rps * 60,
        latencyMs: (connections / variant.rps) * 1_000,
        ratio: interval,
        against: text,
        restarts: isFew ? restartRps(result.slices, variant.name).map((rps) => rps * 60) : [],
        band: 1 + precision.rpsBand,
        reading: way === 'interceptor' ? 'base' : readingOf(interval, precision.rpsBand),
      } as const;
    });
    return rows.map((row, index) => ({ ...row, isFirst: index === 0 }));
  });
}

/* Returns the verdict of a report, by the noise of the A/A control. */
function readingOf(ratio: Interval | undefined, band: number): Row['reading'] {
  if (ratio === undefined) return 'unresolved';
  const verdict = judge(ratio, { band });
  if (verdict === 'changed') return ratio.value > 1 ? 'better' : 'worse';
  return verdict;
}

function drawPanel(
  { sink, connections }: Panel,
  rows: readonly Row[],
  top: number,
  layout: Layout,
  rpmAxis: Axis,
  latencyAxis: Axis,
): Markup {
  const first = top + panelHeadHeight;
  const bottom = first + rows.length * layout.rowHeight;
  const ticks = (axis: Axis, place: Place): Markup[] => {
    let free = -Infinity;
    return axis.ticks.map(({ value, label }) => {
      const x = at(axis, place, value);
      const half = (textWidth(label) * 11) / 2;
      // On the narrow plot some labels would touch; their grid lines stay.
      const hasRoom = x - half >= free;
      if (hasRoom) free = x + half + 3;
      return markup`${hasRoom && markup`<text class="s m" x="${x}" y="${first - 6}">${label}</text>`}<path class="grid" d="M${x} ${first}V${bottom}"/>`;
    });
  };
  return markup`<path class="edge" d="M${edge} ${top}H${layout.width - edge}"/><text class="n" x="${edge}" y="${top + 18}">${titleOf(sink)}, ${connections} connections</text>
${bands(rows, first, layout, rpmAxis, latencyAxis)}${ticks(rpmAxis, layout.rpm)}${ticks(latencyAxis, layout.latency)}
${rows.map((row, index) => drawRow(row, first + index * layout.rowHeight, layout, rpmAxis, latencyAxis))}
`;
}

/* Draws the range that counts as no difference from the interceptor, under the rows of each platform. */
function bands(
  rows: readonly Row[],
  first: number,
  layout: Layout,
  rpmAxis: Axis,
  latencyAxis: Axis,
): Markup[] {
  return rows.flatMap((base, index) => {
    // With too few restarts, the control is unknown too.
    if (base.reading !== 'base' || base.restarts.length > 0) return [];
    const start = rows.findLastIndex(({ isFirst }, other) => isFirst && other <= index);
    const next = rows.findIndex(({ isFirst }, other) => isFirst && other > index);
    const top = first + start * layout.rowHeight;
    const height = ((next === -1 ? rows.length : next) - start) * layout.rowHeight;
    const draw = (axis: Axis, place: Place, value: number): Markup => {
      const [low, high] = [at(axis, place, value / base.band), at(axis, place, value * base.band)];
      return markup`<rect class="band" x="${low}" y="${top}" width="${tidy(high - low)}" height="${height}"/>`;
    };
    return [
      draw(rpmAxis, layout.rpm, base.rpm / 1_000),
      draw(latencyAxis, layout.latency, base.latencyMs),
    ];
  });
}

function drawRow(row: Row, top: number, layout: Layout, rpmAxis: Axis, latencyAxis: Axis): Markup {
  const { rpm, latency } = layout;
  const y = top + layout.plotY;
  const nameY = layout.plotY > 20 ? top + 15 : y + 4;
  const start = at(rpmAxis, rpm, 0);
  const [scale, inverse] = whiskerOf(row);
  return markup`<g>${row.isFirst && top > 0 && markup`<path class="ref" d="M${edge} ${top}H${layout.width - edge}"/>`}<text class="r" x="${edge}" y="${nameY}">${row.name}</text><rect class="b ${row.reading}" x="${start}" y="${y - 5}" width="${tidy(at(rpmAxis, rpm, row.rpm / 1_000) - start)}" height="10"/>${whisker(rpmAxis, rpm, scale, y)}${ticksOf(
    row.restarts.map((each) => at(rpmAxis, rpm, each / 1_000)),
    y,
  )}<text class="r e" x="${layout.rpmTextX}" y="${y + 4}">${fixed(row.rpm / 1_000)}</text>${whisker(latencyAxis, latency, inverse, y)}${ticksOf(
    row.restarts.map((each) => at(latencyAxis, latency, (row.latencyMs * row.rpm) / each)),
    y,
  )}<circle class="${row.reading}" cx="${at(latencyAxis, latency, row.latencyMs)}" cy="${y}" r="3.4"/><text class="r e" x="${layout.latencyTextX}" y="${y + 4}">${fixed(row.latencyMs, 1)}</text><text class="v e ${row.reading}" x="${layout.ratioX}" y="${nameY}">${marks[row.reading]}${row.against}</text></g>
`;
}

/* Draws each restart if there are too few: their positions are all that is known. */
function ticksOf(places: readonly number[], y: number): Markup | undefined {
  if (places.length === 0) return undefined;
  return markup`<path class="w" d="${places.map((x) => `M${x} ${y - 6}V${y + 6}`).join('')}"/>`;
}

/*
 * Returns the interval of the ratio to the interceptor, which was measured in the same blocks, scaled to the row's own
 * figures.
 */
function whiskerOf({ ratio, rpm, latencyMs }: Row): [Interval | undefined, Interval | undefined] {
  if (ratio === undefined || ratio.low === ratio.high) return [undefined, undefined];
  const [low, high] = [ratio.low / ratio.value, ratio.high / ratio.value];
  const rpms = { value: rpm, low: (rpm * low) / 1_000, high: (rpm * high) / 1_000 };
  return [rpms, { value: latencyMs, low: latencyMs / high, high: latencyMs / low }];
}

/* A whisker that leaves the axis ends in an arrow. */
function whisker(
  axis: Axis,
  place: Place,
  interval: Interval | undefined,
  y: number,
): Markup | undefined {
  if (interval === undefined) return undefined;
  const [low, high] = [at(axis, place, interval.low), at(axis, place, interval.high)];
  const end = (x: number, value: number, inwards: number): string =>
    axis.at(value) < 0 || axis.at(value) > 1
      ? `M${tidy(x + 5 * inwards)} ${y - 4}L${x} ${y}L${tidy(x + 5 * inwards)} ${y + 4}`
      : `M${x} ${y - 4}V${y + 4}`;
  return markup`<path class="w" d="M${low} ${y}H${high}${end(low, interval.low, 1)}${end(high, interval.high, -1)}"/>`;
}

function footLines(result: GridResult, panels: readonly Panel[], width: number): string[] {
  const { machine, load, startedAt, groups = [] } = result;
  const restarts = panels.map(
    ({ sink, connections }) =>
      groups.find(({ name }) => name === `${sink}-c${connections}`)?.precision.restarts ?? 0,
  );
  const isFew = Math.min(...restarts) < minRestarts;
  const few = ` Where a row was started once or twice, strokes and the last column show each start, and no verdict is drawn.`;
  return [
    `▲ ▼ against the interceptor on the same platform, beyond the noise of its A/A control, which is shaded, and certainly not equal; = within 2 %; ○ unresolved. Whiskers and brackets: 95 % intervals of that ratio. Latency: connections ÷ requests per second.${isFew ? few : ''}`,
    `${startedAt.slice(0, 10)} · ${machine.cpuModel}, ${machine.cores} cores · Node.js ${machine.node.replace(/^v/, '')} · ${load.generator}`,
  ].flatMap((text) => fitText(text, width / 11, 9));
}

function describe(drawn: readonly { panel: Panel; rows: readonly Row[] }[]): string {
  return drawn
    .map(({ panel, rows }) => {
      const each = rows.map((row) => {
        const ratio = row.reading === 'base' ? '' : `, ${row.against} the interceptor`;
        return `${row.name}: ${fixed(row.rpm / 1_000)} thousand requests per minute, ${fixed(row.latencyMs, 1)} ms${ratio}`;
      });
      return `${titleOf(panel.sink)}, ${panel.connections} connections. ${each.join('; ')}.`;
    })
    .join(' ');
}

function titleOf(sink: string): string {
  return sinks[sink]!.replace(/^./, (first) => first.toUpperCase());
}

function find(result: GridResult, name: string): GridVariant | undefined {
  const variant = result.variants.find((each) => each.name === name);
  return variant !== undefined && 'rps' in variant ? variant : undefined;
}

function at(axis: Axis, place: Place, value: number): number {
  return tidy(place.x + Math.min(1, Math.max(0, axis.at(value))) * place.width);
}

function tidy(value: number): number {
  return Number(value.toFixed(1));
}

const style = `svg{${coloursOf('light')}}@media(prefers-color-scheme:dark){svg{${coloursOf('dark')}}}text{font:12px ${SANS};fill:var(--ink);font-variant-numeric:tabular-nums}.h{font-size:16px;font-weight:600}.n{font-weight:600;font-size:13px}.s,.v{font-size:11px;fill:var(--ink2)}.e{text-anchor:end}.m{text-anchor:middle}.bg{fill:var(--bg)}.band{fill:var(--band)}path{fill:none}.grid{stroke:var(--grid)}.ref{stroke:var(--rule)}.edge{stroke:var(--mark)}.w{stroke:var(--mark);stroke-width:1.5}.b{fill:var(--bar)}.b.base,.b.same{fill:var(--bar-base)}.b.better{fill:var(--better-fill)}.b.worse{fill:var(--worse-fill)}.b.unresolved{fill:var(--bg);stroke:var(--bar)}circle{fill:var(--mark)}circle.better{fill:var(--better)}circle.worse{fill:var(--worse)}circle.unresolved{fill:var(--bg);stroke:var(--mark);stroke-width:1.5}.v.better{fill:var(--better)}.v.worse{fill:var(--worse)}`;
