import { paint } from '../../report/colour.ts';
import { left, named, right, widest, widthOf, wrap } from '../../report/columns.ts';
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

const MOST_NAME = 24;
const LEAST_NAME = 12;
/** With less room than for a name, names stand above their rows, which are set in by this. */
const INDENT = 2;
const LEAST_PLOT = 20;
/** Where there is no room for more. */
const NARROW_PLOT = 10;
/** Mark and longest word. */
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
    canvas.width - rest - LEAST_PLOT,
    canvas.width - rest - NARROW_PLOT,
  );
  const plotWidth = Math.max(0, canvas.width - rest - nameWidth);

  const line = (
    name: string,
    mark: string,
    ratio: string,
    plot: string,
    interval: string,
    rps: string,
  ): string =>
    `${left(name, nameWidth)} ${mark} ${right(ratio, ratioWidth)}  ${left(plot, plotWidth)}  ${left(interval, rangeWidth)}  ${right(rps, rpsWidth)}`;
  return [
    ...named('requests per second', nameWidth, canvas.width, (name) =>
      line(name, ' ', '× base', axisLine(figures.rpsAxis, plotWidth), '95 % interval', 'rps'),
    ),
    ...tableLines(figures, canvas, nameWidth, (row, name) => {
      const text = figures.rps.get(row);
      const mark = paint(glyphs.marks[row.rps.reading], row.rps.reading, canvas.colour);
      return line(
        name,
        mark,
        aligned(text),
        plotWidth > 0 ? plotLine(figures.rpsAxis, row.rps, plotWidth, glyphs) : '',
        text?.range ?? '',
        requests.get(row) ?? '',
      );
    }),
  ];
}

export function cpuTable(figures: Figures, canvas: Canvas): string[] {
  const { glyphs, colour, width } = canvas;
  const latency = (value: number): string => fixed(value, figures.latencyDecimals);
  const columns = figures.measured.map(({ variant }) => [
    latency(variant.latencyMs.p50),
    latency(variant.latencyMs.p99),
    fixed(variant.rssMiB),
  ]);
  const [p50Width, p99Width, rssWidth] = [0, 1, 2].map((index) =>
    Math.max(3, widest(columns.map((cells) => cells[index] ?? ''))),
  ) as [number, number, number];
  const valueWidth = Math.max(4, ...widths(figures.cpu));
  const rangeWidth = Math.max(13, widest([...figures.cpu.values()].map(({ range }) => range)));
  const others =
    1 + valueWidth + 2 + rangeWidth + 2 + 2 + p50Width + 2 + p99Width + 1 + 1 + rssWidth;
  // The words of the marks are below the table.
  const verdictWidth = width - others - VERDICT >= INDENT ? VERDICT : 1;
  const rest = others + verdictWidth;
  const nameWidth = nameColumn(figures.rows.map(nameOf), 'CPU per request', width - rest);
  const gap = ' '.repeat(Math.max(0, Math.min(4, width - rest - nameWidth)));

  const line = (
    name: string,
    value: string,
    range: string,
    verdict: string,
    p50: string,
    p99: string,
    mark: string,
    rss: string,
  ): string =>
    `${left(name, nameWidth)} ${right(value, valueWidth)}  ${left(range, rangeWidth)}  ${verdict}${gap}  ${right(p50, p50Width)}  ${right(p99, p99Width)}${mark} ${right(rss, rssWidth)}`;
  const blank = ' '.repeat(verdictWidth);
  const head = left(verdictWidth === VERDICT ? '  verdict' : '', verdictWidth);
  return [
    ...named('CPU per request', nameWidth, width, (name) =>
      line(name, 'µs', '95 % interval', head, 'p50', 'p99', ' ', 'RSS'),
    ),
    line('', '', '', blank, 'ms', 'ms', ' ', 'MiB'),
    ...tableLines(figures, canvas, nameWidth, (row, name) => {
      const text = figures.cpu.get(row);
      const { latencyMs, rssMiB } = row.variant;
      const mark = row.p99 ? paint(glyphs.marks[row.p99], row.p99, colour) : ' ';
      return line(
        name,
        aligned(text),
        text?.range ?? '',
        verdictText(row.cpu.reading, verdictWidth, canvas),
        latency(latencyMs.p50),
        latency(latencyMs.p99),
        mark,
        fixed(rssMiB),
      );
    }),
  ];
}

/** Compact: marks without their words, which the first two tables spell out. */
export function stepTable(figures: Figures, canvas: Canvas): string[] {
  if (figures.steps.length === 0) return [];
  const { glyphs, colour, width } = canvas;
  const texts = [...figures.stepTexts.values()];
  const savedWidth = Math.max(8, widest(texts.map(({ saved }) => aligned(saved))));
  const savedRange = widest(['95 % interval', ...texts.map(({ saved }) => saved.range)]);
  const rpsWidth = Math.max(5, widest(texts.map(({ rps }) => aligned(rps))));
  const rpsRange = widest(['95 % interval', ...texts.map(({ rps }) => rps.range)]);
  const rest = 1 + 1 + 1 + savedWidth + 2 + savedRange + 2 + 1 + 1 + rpsWidth + 2 + rpsRange;
  const nameFor = ({ name, beside }: StepRow): string => (beside ? besideName(name) : name);
  const names = figures.steps.map(nameFor);
  const nameWidth = nameColumn(names, 'over the rung below', width - rest);

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
    ...named('over the rung below', nameWidth, width, (name) =>
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

/** Rows in the order of the report, skipped ones in their place. */
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

/** @param most The room there is when all else is as narrow as it can be. */
function nameColumn(
  names: readonly string[],
  heading: string,
  room: number,
  most: number = room,
): number {
  const wanted = Math.min(MOST_NAME, Math.max(widthOf(heading), widest(names)));
  const width = Math.max(LEAST_NAME, Math.min(wanted, room));
  return width <= most ? width : INDENT;
}

function nameOf(row: Row): string {
  if (row.role === 'control') return `${row.name} (A/A)`;
  return row.role === 'beside' ? besideName(row.name) : row.name;
}

/** Indented: not part of the ladder. */
function besideName(name: string): string {
  return `  ${name}`;
}

function requestsText({ variant, rpsIsLowerBound }: MeasuredRow): string {
  return `${rpsIsLowerBound ? '≥ ' : ''}${fixed(variant.rps)}`;
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
