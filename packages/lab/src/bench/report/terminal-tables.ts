import { paint } from '../../report/colour.ts';
import { left, lineOf, named, right, widest, widthOf, wrap } from '../../report/columns.ts';
import type { Figures } from './figures.ts';
import { type ColumnText, fixed } from '../../report/format.ts';
import type { Glyphs } from '../../report/glyphs.ts';
import { type Reading, WORDS } from '../../report/reading.ts';
import { isMeasuredRow, type MeasuredRow, type Row, type StepRow } from './rows.ts';
import { axisLine, plotLine } from '../../report/terminal-plot.ts';

export interface Canvas {
  width: number;
  colour: boolean;
  glyphs: Glyphs;
}

const MAX_NAME_WIDTH = 24;
const MIN_NAME_WIDTH = 12;
/** If there is no room for names, they stand above their rows, which are indented by this. */
const INDENT = 2;
const MIN_PLOT_WIDTH = 20;
/** Plot width if there is no room for more. */
const NARROW_PLOT = 10;
/** Width of the mark and the longest word. */
const VERDICT = 12;

export function rpsTable(figures: Figures, canvas: Canvas): string[] {
  const { glyphs } = canvas;
  const requests = new Map(figures.measured.map((row) => [row as Row, requestsText(row)]));
  const ratioWidth = Math.max(6, ...widths(figures.rps));
  const rangeWidth = Math.max(13, widest([...figures.rps.values()].map(({ range }) => range)));
  const rpsWidth = Math.max(3, widest([...requests.values()]));
  const rest = 1 + 1 + 1 + ratioWidth + 2 + 2 + rangeWidth + 2 + rpsWidth;
  const nameWidth = nameColumn(
    figures.rows.map(nameOf),
    'requests per second',
    canvas.width - rest - MIN_PLOT_WIDTH,
    canvas.width - rest - NARROW_PLOT,
  );
  const plotWidth = Math.max(0, canvas.width - rest - nameWidth);

  const line = lineOf({
    name: { width: nameWidth, gap: 0 },
    mark: { width: 1, gap: 1 },
    ratio: { width: ratioWidth, gap: 1, align: 'right' },
    plot: { width: plotWidth },
    range: { width: rangeWidth },
    rps: { width: rpsWidth, align: 'right' },
  });
  const head = {
    mark: ' ',
    ratio: '× base',
    plot: axisLine(figures.rpsAxis, plotWidth),
    range: '95 % interval',
    rps: 'rps',
  };
  return [
    ...named('requests per second', nameWidth, canvas.width, (name) => line({ name, ...head })),
    ...tableLines(figures, canvas, nameWidth, (row, name) => {
      const text = figures.rps.get(row);
      return line({
        name,
        mark: paint(glyphs.marks[row.rps.reading], row.rps.reading, canvas.colour),
        ratio: aligned(text),
        plot: plotWidth > 0 ? plotLine(figures.rpsAxis, row.rps, plotWidth, glyphs) : '',
        range: text?.range ?? '',
        rps: requests.get(row) ?? '',
      });
    }),
  ];
}

/** The layout of the CPU and latency table for the available width. */
interface CpuLayout {
  /** Widths of the names, and of the verdicts: mark and word, or the mark alone. */
  name: number;
  verdict: number;
  line: ReturnType<typeof lineOf<CpuColumn>>;
}

type CpuColumn = 'name' | 'micros' | 'range' | 'verdict' | 'p50' | 'p99' | 'mark' | 'rss';

function layOutCpu(figures: Figures, { width }: Canvas): CpuLayout {
  const columns = figures.measured.map(({ variant }) => [
    latencyText(figures, variant.latencyMs.p50),
    latencyText(figures, variant.latencyMs.p99),
    fixed(variant.rssMiB),
  ]);
  const [p50, p99, rss] = [0, 1, 2].map((index) =>
    Math.max(3, widest(columns.map((cells) => cells[index] ?? ''))),
  ) as [number, number, number];
  const micros = Math.max(4, ...widths(figures.cpu));
  const range = Math.max(13, widest([...figures.cpu.values()].map((text) => text.range)));
  const others = 1 + micros + 2 + range + 2 + 2 + p50 + 2 + p99 + 1 + 1 + rss;
  // The legend below the table explains the marks.
  const verdict = width - others - VERDICT >= INDENT ? VERDICT : 1;
  const rest = others + verdict;
  const name = nameColumn(figures.rows.map(nameOf), 'CPU per request', width - rest);
  const gap = Math.max(0, Math.min(4, width - rest - name));
  const line = lineOf<CpuColumn>({
    name: { width: name, gap: 0 },
    micros: { width: micros, gap: 1, align: 'right' },
    range: { width: range },
    verdict: { width: verdict },
    p50: { width: p50, gap: gap + 2, align: 'right' },
    p99: { width: p99, align: 'right' },
    mark: { width: 1, gap: 0 },
    rss: { width: rss, gap: 1, align: 'right' },
  });
  return { name, verdict, line };
}

export function cpuTable(figures: Figures, canvas: Canvas): string[] {
  const { glyphs, colour, width } = canvas;
  const layout = layOutCpu(figures, canvas);
  const { line } = layout;
  const head = {
    micros: 'µs',
    range: '95 % interval',
    verdict: layout.verdict === VERDICT ? '  verdict' : '',
    p50: 'p50',
    p99: 'p99',
    mark: ' ',
    rss: 'RSS',
  };
  const units = { name: '', micros: '', range: '', verdict: '', mark: ' ' };
  return [
    ...named('CPU per request', layout.name, width, (name) => line({ name, ...head })),
    line({ ...units, p50: 'ms', p99: 'ms', rss: 'MiB' }),
    ...tableLines(figures, canvas, layout.name, (row, name) => {
      const text = figures.cpu.get(row);
      const { latencyMs, rssMiB } = row.variant;
      return line({
        name,
        micros: aligned(text),
        range: text?.range ?? '',
        verdict: verdictText(row.cpu.reading, layout.verdict, canvas),
        p50: latencyText(figures, latencyMs.p50),
        p99: latencyText(figures, latencyMs.p99),
        mark: row.p99 ? paint(glyphs.marks[row.p99], row.p99, colour) : ' ',
        rss: fixed(rssMiB),
      });
    }),
  ];
}

/** Renders the steps compactly: marks without their words, which the first two tables spell out. */
export function stepTable(figures: Figures, canvas: Canvas): string[] {
  if (figures.steps.length === 0) return [];
  const { glyphs, colour, width } = canvas;
  const texts = [...figures.stepTexts.values()];
  const savedWidth = Math.max(8, widest(texts.map(({ saved }) => aligned(saved))));
  const savedRange = widest(['95 % interval', ...texts.map(({ saved }) => saved.range)]);
  const rpsWidth = Math.max(5, widest(texts.map(({ rps }) => aligned(rps))));
  const rpsRange = widest(['95 % interval', ...texts.map(({ rps }) => rps.range)]);
  const rest = 1 + 1 + 1 + savedWidth + 2 + savedRange + 2 + 1 + 1 + rpsWidth + 2 + rpsRange;
  const isApart = figures.steps.some(({ apart }) => apart);
  const heading = isApart ? 'over the one named' : 'over the rung below';
  const nameFor = ({ name, beside, over }: StepRow): string =>
    `${beside ? besideName(name) : name}${isApart ? ` over ${over}` : ''}`;
  const names = figures.steps.map(nameFor);
  const nameWidth = nameColumn(names, heading, width - rest);

  const line = (name: string, cells: [mark: string, value: string, range: string][]): string => {
    const [saved, rps] = cells.map(([mark, value, range], index) =>
      index === 0
        ? `${mark} ${right(value, savedWidth)}  ${left(range, savedRange)}`
        : `${mark} ${right(value, rpsWidth)}  ${range}`,
    );
    return `${left(name, nameWidth)} ${saved}  ${rps}`;
  };
  const mark = (reading: Reading): string => paint(glyphs.marks[reading], reading, colour);
  return [
    ...named(heading, nameWidth, width, (name) =>
      line(name, [
        [' ', 'µs saved', '95 % interval'],
        [' ', '× rps', '95 % interval'],
      ]),
    ),
    ...figures.steps.flatMap((step) => {
      const { saved, rps } = figures.stepTexts.get(step) ?? {};
      return named(nameFor(step), nameWidth, width, (name) =>
        line(name, [
          [mark(step.saved.reading), aligned(saved), saved?.range ?? ''],
          [mark(step.rps.reading), aligned(rps), rps?.range ?? ''],
        ]),
      );
    }),
  ];
}

/** Renders the rows in the order of the report, including skipped ones. */
function tableLines(
  figures: Figures,
  { width }: Canvas,
  nameWidth: number,
  cells: (row: MeasuredRow, name: string) => string,
): string[] {
  return figures.rows.flatMap((row) =>
    isMeasuredRow(row)
      ? named(nameOf(row), nameWidth, width, (name) => cells(row, name))
      : wrap(`${left(nameOf(row), nameWidth)} – skipped: ${row.skipped}`, width, '  '),
  );
}

/** @param maxWidth The room available when everything else is as narrow as possible. */
function nameColumn(
  names: readonly string[],
  heading: string,
  room: number,
  maxWidth: number = room,
): number {
  const wanted = Math.min(MAX_NAME_WIDTH, Math.max(widthOf(heading), widest(names)));
  const width = Math.max(MIN_NAME_WIDTH, Math.min(wanted, room));
  return width <= maxWidth ? width : INDENT;
}

function nameOf(row: Row): string {
  if (row.role === 'control') return `${row.name} (A/A)`;
  return row.role === 'beside' ? besideName(row.name) : row.name;
}

/** Indents a name that is not part of the ladder. */
function besideName(name: string): string {
  return `  ${name}`;
}

function requestsText({ variant, rpsIsLowerBound }: MeasuredRow): string {
  return `${rpsIsLowerBound ? '≥ ' : ''}${fixed(variant.rps)}`;
}

function latencyText({ latencyDecimals }: Figures, ms: number): string {
  return fixed(ms, latencyDecimals);
}

function verdictText(reading: Reading, width: number, { glyphs, colour }: Canvas): string {
  const mark = glyphs.marks[reading];
  return paint(width === 1 ? mark : left(`${mark} ${WORDS[reading]}`, width), reading, colour);
}

function widths(texts: Figures['rps']): number[] {
  return [...texts.values()].map((text) => widthOf(aligned(text)));
}

function aligned(text: ColumnText | undefined): string {
  return text ? text.value + text.pad : '';
}
