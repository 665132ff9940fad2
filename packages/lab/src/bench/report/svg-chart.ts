import type { BenchResult } from '../result.ts';
import type { Axis } from '../../report/axis.ts';
import { type Figures, figuresOf } from './figures.ts';
import { type ColumnText, fixed, percent } from '../../report/format.ts';
import { markup, type Markup, raw } from '../../report/markup.ts';
import { type Estimate, type Reading, WORDS } from '../../report/reading.ts';
import { isMeasuredRow, type MeasuredRow, type SkippedRow } from './rows.ts';
import { fitText } from '../../report/text-width.ts';
import { coloursOf, SANS } from '../../report/tokens.ts';
import { rounds, trustOf } from './words.ts';

export interface SvgOptions {
  /** One theme, for a `<picture>` with a source for each, or both in one file that follows the viewer's setting. @default 'auto' */
  theme?: 'auto' | 'light' | 'dark';
}

/** In user units, which are pixels unless the picture is scaled. */
const WIDTH = 820;
const EDGE = 20;
const NAME = { x: EDGE, width: 178 };
const CPU = { x: 212, width: 184 };
const CPU_TEXT = { x: 480 };
const RPS = { x: 496, width: 138 };
const RPS_TEXT = { x: 702 };
const VERDICT = { x: 714 };
const TOP = 92;
const LINE = 15;
const FONT = 13;
const SMALL = 11;

const MARKS: Record<Reading, string> = {
  base: '',
  better: '▲',
  worse: '▼',
  same: '=',
  unresolved: '○',
  withheld: '',
};

interface Layout {
  row: MeasuredRow | SkippedRow;
  name: string[];
  note: string[];
  y: number;
  height: number;
  /** Line above the row: none for the first, a strong one between the ladder and the variants beside it. */
  divider?: 'grid' | 'ref';
}

/** Renders the ladder as a picture for a README, without scripts, fonts or external files; text stays text. */
export function renderSvg(result: BenchResult, options: SvgOptions = {}): string {
  const figures = figuresOf(result);
  const layouts = layOut(figures);
  const bottom = layouts.reduce((end, { y, height }) => Math.max(end, y + height), TOP);
  const foot = footLines(result);
  const height = bottom + 18 + foot.length * 16 + 10;
  const svg = markup`<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="t d"><title id="t">${result.title}</title><desc id="d">${summary(result, figures)}</desc>
<style>${raw(style(options.theme ?? 'auto'))}</style>
<rect class="bg" width="${WIDTH}" height="${height}" rx="6"/>
<text class="h" x="${EDGE}" y="32">${fitText(result.title, 56, 1, true)[0] ?? ''}</text>
${headers(figures, bottom)}
${layouts.map((layout) => drawRow(layout, figures))}
<path class="edge" d="M${EDGE} ${bottom}H${WIDTH - EDGE}"/>
${foot.map((line, index) => markup`<text class="s" x="${EDGE}" y="${bottom + 22 + index * 16}">${line}</text>`)}
</svg>
`;
  return svg.text;
}

function layOut(figures: Figures): Layout[] {
  let y = TOP;
  return figures.rows.map((row, index) => {
    const above = figures.rows[index - 1];
    const divider = row.role === 'beside' && above?.role !== 'beside' ? 'ref' : 'grid';
    const name = fitText(row.name, NAME.width / FONT, 2, true);
    const text = [row.role === 'beside' && 'beside the ladder', row.note]
      .filter(Boolean)
      .join(', ');
    const note = text === '' ? [] : fitText(text, NAME.width / SMALL, 2);
    const height = Math.max(2, name.length + note.length) * LINE + 12;
    const layout: Layout = { row, name, note, y, height, ...(above && { divider }) };
    y += height;
    return layout;
  });
}

function headers(figures: Figures, bottom: number): Markup {
  const { cpuBand, rpsBand, baseMicros } = figures;
  const { cpu, rps } = scalesOf(figures);
  return markup`<text class="s" x="${CPU.x}" y="62">CPU µs per request</text><text class="s" x="${RPS.x}" y="62">requests/s, × base (log)</text>
${band(cpu, cpuBand, bottom)}${band(rps, rpsBand, bottom)}
${ticks(cpu, bottom)}${ticks(rps, bottom)}
${baseMicros !== undefined && gridLine('ref', at(cpu, baseMicros), bottom)}${gridLine('ref', at(rps, 1), bottom)}
<path class="edge" d="M${EDGE} ${TOP - 4}H${WIDTH - EDGE}"/>`;
}

function ticks(scale: Scale, bottom: number): Markup[] {
  return scale.axis.ticks.map(({ value, label }) => {
    const x = at(scale, value);
    return markup`<text class="s m" x="${x}" y="82">${label}</text>${gridLine('grid', x, bottom)}`;
  });
}

function gridLine(kind: 'grid' | 'ref', x: number, bottom: number): Markup {
  return markup`<path class="${kind}" d="M${x} ${TOP - 4}V${bottom}"/>`;
}

function band(scale: Scale, edges: Figures['cpuBand'], bottom: number): Markup | undefined {
  if (!edges) return undefined;
  const x = at(scale, edges.low);
  return markup`<rect class="band" x="${x}" y="${TOP - 4}" width="${tidy(at(scale, edges.high) - x)}" height="${bottom - TOP + 4}"/>`;
}

function drawRow({ row, name, note, y, height, divider }: Layout, figures: Figures): Markup {
  const first = y + 17;
  const names = [
    ...name.map(
      (line, index) =>
        markup`<text class="n" x="${NAME.x}" y="${first + index * LINE}">${line}</text>`,
    ),
    ...note.map(
      (line, index) =>
        markup`<text class="s" x="${NAME.x}" y="${first + (name.length + index) * LINE}">${line}</text>`,
    ),
  ];
  const rule = divider && markup`<path class="${divider}" d="M${EDGE} ${y}H${WIDTH - EDGE}"/>`;
  const body = isMeasuredRow(row) ? drawMeasured(row, figures, y) : drawSkipped(row, y, height);
  return markup`<g>${rule}${names}${body}</g>
`;
}

function drawMeasured(row: MeasuredRow, figures: Figures, top: number): Markup {
  const { cpu, rps } = scalesOf(figures);
  const cpuText = figures.cpu.get(row);
  const rpsText = figures.rps.get(row);
  const y = top + 21;
  const start = at(cpu, 0);
  const bar = markup`<rect class="b ${row.cpu.reading}" x="${start}" y="${y - 5}" width="${tidy(at(cpu, row.cpu.value) - start)}" height="10"/>`;
  const dot = markup`<circle class="${row.rps.reading}" cx="${at(rps, row.rps.value)}" cy="${y}" r="3.4"/>`;
  const { reading } = row.cpu;
  return markup`${bar}${whisker(cpu, row.cpu, y, 'w')}${whisker(rps, row.rps, y, `w ${row.rps.reading}`)}${dot}${figureText(CPU_TEXT.x, top, cpuText)}${figureText(RPS_TEXT.x, top, rpsText, row.role === 'base' ? `${fixed(row.variant.rps)}/s` : '')}<text class="v ${reading}" x="${VERDICT.x}" y="${top + 17}">${MARKS[reading]}</text><text class="v ${reading}" x="${VERDICT.x + 15}" y="${top + 17}">${WORDS[reading]}</text>`;
}

function figureText(x: number, top: number, text: ColumnText | undefined, below = ''): Markup {
  if (!text) return markup``;
  const small = text.range || below;
  return markup`<text class="n e" x="${x}" y="${top + 17}">${text.value}${text.pad}</text>${small !== '' && markup`<text class="s e" x="${x}" y="${top + 17 + LINE}">${small}</text>`}`;
}

/** Interrupts the grid, because nothing was measured here. */
function drawSkipped(row: SkippedRow, top: number, height: number): Markup {
  const lines = fitText(`not measured: ${row.skipped}`, (WIDTH - EDGE - CPU.x) / SMALL, 2);
  return markup`<rect class="bg" x="${CPU.x - 4}" y="${top + 1}" width="${WIDTH - EDGE - CPU.x}" height="${height - 2}"/>${lines.map((line, index) => markup`<text class="s" x="${CPU.x}" y="${top + 17 + index * LINE}">${line}</text>`)}`;
}

function whisker(scale: Scale, estimate: Estimate, y: number, kind: string): Markup | undefined {
  if (!(estimate.high > estimate.low)) return undefined;
  const [low, high] = [at(scale, estimate.low), at(scale, estimate.high)];
  const end = (x: number, value: number, inwards: number): string =>
    scale.axis.at(value) < 0 || scale.axis.at(value) > 1
      ? `M${tidy(x + 5 * inwards)} ${y - 4}L${x} ${y}L${tidy(x + 5 * inwards)} ${y + 4}`
      : `M${x} ${y - 4}V${y + 4}`;
  return markup`<path class="${kind}" d="M${low} ${y}H${high}${end(low, estimate.low, 1)}${end(high, estimate.high, -1)}"/>`;
}

function footLines(result: BenchResult): string[] {
  const { machine, load, precision } = result;
  const bands =
    precision.cpuBand === precision.rpsBand
      ? `± ${percent(precision.cpuBand)}`
      : `± ${percent(precision.cpuBand)} CPU, ± ${percent(precision.rpsBand)} requests`;
  const verdicts = trustOf(result).cpu
    ? `Verdict on CPU. Whiskers and brackets: 95 % intervals. Shaded: ${bands}, which counts as no difference.`
    : 'Verdicts are withheld: the A/A control differs from the base. Whiskers and brackets: 95 % intervals.';
  const facts = `${machine.cpuModel}, ${machine.cores} cores · ${machine.kernel} · Node.js ${machine.node.replace(/^v/, '')} · ${load.generator}, ${load.connections} connections · ${rounds(result)}`;
  return [verdicts, facts].flatMap((text) => fitText(text, (WIDTH - 2 * EDGE) / SMALL, 2));
}

function summary(result: BenchResult, figures: Figures): string {
  const rows = figures.measured.map((row) => {
    const cpu = figures.cpu.get(row);
    const rps = figures.rps.get(row);
    return `${row.name}: ${cpu?.value} µs ${cpu?.range}, ${rps?.value} × ${rps?.range}, ${WORDS[row.cpu.reading]}`;
  });
  return `CPU time per request and requests per second against ${result.baseline}. ${rows.join('; ')}.`;
}

function style(theme: 'auto' | 'light' | 'dark'): string {
  const root = theme === 'auto' ? coloursOf('light') : coloursOf(theme);
  const dark =
    theme === 'auto' ? `@media(prefers-color-scheme:dark){svg{${coloursOf('dark')}}}` : '';
  return `svg{${root}}${dark}text{font:${FONT}px ${SANS};fill:var(--ink);font-variant-numeric:tabular-nums}.h{font-size:16px;font-weight:600}.n{font-weight:600}.s{font-size:${SMALL}px;fill:var(--ink2)}.e{text-anchor:end}.m{text-anchor:middle}.bg{fill:var(--bg)}.band{fill:var(--band)}path{fill:none}.grid{stroke:var(--grid)}.ref{stroke:var(--mark)}.edge{stroke:var(--rule)}.w{stroke:var(--mark);stroke-width:1.5}.w.better{stroke:var(--better)}.w.worse{stroke:var(--worse)}.b{fill:var(--bar)}.b.base,.b.same{fill:var(--bar-base)}.b.better{fill:var(--better-fill)}.b.worse{fill:var(--worse-fill)}.b.unresolved{fill:var(--bg);stroke:var(--bar)}circle{fill:var(--mark)}circle.better{fill:var(--better)}circle.worse{fill:var(--worse)}circle.unresolved{fill:var(--bg);stroke:var(--mark);stroke-width:1.5}.v{font-size:12px;fill:var(--ink2)}.v.better{fill:var(--better)}.v.worse{fill:var(--worse)}`;
}

/** An axis at its place in the picture. */
interface Scale {
  axis: Axis;
  x: number;
  width: number;
}

function scalesOf({ cpuAxis, rpsAxis }: Figures): { cpu: Scale; rps: Scale } {
  return { cpu: { axis: cpuAxis, ...CPU }, rps: { axis: rpsAxis, ...RPS } };
}

function at({ axis, x, width }: Scale, value: number): number {
  return tidy(x + Math.min(1, Math.max(0, axis.at(value))) * width);
}

function tidy(value: number): number {
  return Number(value.toFixed(1));
}
