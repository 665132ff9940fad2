import type { BenchResult } from '../result.ts';
import { logAxis } from './axis.ts';
import { paint } from './colour.ts';
import { cut, ends, left, right, widest, wrap } from './columns.ts';
import {
  type ColumnText,
  columnDecimals,
  estimateColumn,
  fixed,
  percent,
  plural,
} from './format.ts';
import { controlFailureText, controlMissingText } from './header.ts';
import { type Glyphs, glyphsFor } from './glyphs.ts';
import { axisValues } from './ladder-table.ts';
import { stealText } from './facts.ts';
import { bandEdges, type Reading, trustOf, WORDS } from './reading.ts';
import {
  isMeasuredRow,
  type MeasuredRow,
  measuredRows,
  noiseOf,
  type Row,
  rowsOf,
  stepsOf,
} from './rows.ts';
import { axisLine, plotLine } from './terminal-plot.ts';
import { blocksHint, noiseText, rounds } from './words.ts';

export interface TerminalOptions {
  /** @default 80 */
  width?: number;
  colour: boolean;
  unicode: boolean;
  /** Named in the last lines. */
  files?: { html?: string; json?: string };
}

interface Canvas {
  width: number;
  colour: boolean;
  glyphs: Glyphs;
  nameWidth: number;
}

/** The report for people in a terminal: complete without colour, closed by a line break. */
export function renderTerminal(result: BenchResult, options: TerminalOptions): string {
  const width = Math.max(72, options.width ?? 80);
  const glyphs = glyphsFor(options.unicode);
  const nameWidth = Math.min(24, Math.max(16, widest(rowsOf(result).map(nameOf))));
  const canvas: Canvas = { width, colour: options.colour, glyphs, nameWidth };
  const blocks = [
    heading(result, canvas),
    alarms(result, canvas),
    rpsTable(result, canvas),
    cpuTable(result, canvas),
    result.command === 'ladder' ? stepTable(result, canvas) : [],
    [...legend(result, canvas), ...files(options.files, canvas)],
  ].filter((lines) => lines.length > 0);
  return blocks
    .map((lines) => lines.map((line) => `${glyphs.text(line).trimEnd()}\n`).join(''))
    .join('\n');
}

function heading(result: BenchResult, { width, glyphs }: Canvas): string[] {
  const { machine, load } = result;
  const noise = noiseOf(result);
  const count = plural(result.variants.length, 'variant');
  return [
    glyphs.rule.repeat(width),
    ...ends(
      `${result.command === 'ladder' ? 'LADDER' : 'BENCH'}   ${result.title}`,
      `${count} · ${rounds(result)} · ${plural(load.connections, 'connection')}`,
      width,
    ),
    ...wrap(
      `${plural(machine.cores, 'core')} ${machine.cpuModel} · ${machine.kernel} · Node.js ${machine.node} · ${machine.pinning}`,
      width,
    ),
    ...wrap(
      `A/A noise ${noise ? noiseText(noise) : 'not measured'} · ${stealText(machine.steal)}`,
      width,
    ),
  ];
}

/** What must not be missed comes before the first figure. */
function alarms(result: BenchResult, { width }: Canvas): string[] {
  const failure = controlFailureText(result);
  const missing = controlMissingText(result);
  const texts = [
    ...(failure ? [`${failure.headline} ${failure.text}`] : []),
    ...(missing === undefined ? [] : [missing]),
    ...result.warnings,
  ];
  return texts.flatMap((text) => wrap(`! ${text}`, width, '  '));
}

function rpsTable(result: BenchResult, canvas: Canvas): string[] {
  const { width, nameWidth, glyphs } = canvas;
  const rows = measuredRows(result);
  const texts = estimateColumn(
    rows.map((row) => row.rps),
    2,
  );
  const band = bandEdges(result.precision.rpsBand);
  const axis = logAxis([...axisValues(rows.map((row) => row.rps)), band.low, band.high]);
  const requests = rows.map((row) => `${row.rpsIsLowerBound ? '≥ ' : ''}${fixed(row.variant.rps)}`);

  const ratioWidth = Math.max(6, widest(texts.map(({ value }) => value)));
  const rangeWidth = Math.max(4, widest(texts.map(({ range }) => range)));
  const rpsWidth = Math.max(3, widest(requests));
  const plotWidth = width - nameWidth - 3 - ratioWidth - 2 - 2 - rangeWidth - 2 - rpsWidth;

  const line = (
    name: string,
    mark: string,
    ratio: string,
    plot: string,
    interval: string,
    rps: string,
  ): string =>
    `${left(name, nameWidth)} ${mark} ${right(ratio, ratioWidth)}  ${left(plot, plotWidth)}  ${right(interval, rangeWidth)}  ${right(rps, rpsWidth)}`;
  const head = line(
    cut('requests per second', nameWidth),
    ' ',
    '× base',
    axisLine(axis, plotWidth),
    '95 %',
    'rps',
  );
  const lines = tableLines(result, canvas, (row, index) => {
    const { value, range } = texts[index] as ColumnText;
    const mark = paint(glyphs.marks[row.rps.reading], row.rps.reading, canvas.colour);
    const plot = plotLine(axis, row.rps, plotWidth, glyphs);
    return (name) => line(name, mark, value, plot, range, requests[index] as string);
  });
  return [head, ...lines];
}

function cpuTable(result: BenchResult, canvas: Canvas): string[] {
  const { nameWidth, glyphs } = canvas;
  const rows = measuredRows(result);
  const texts = estimateColumn(
    rows.map((row) => row.cpu),
    1,
  );
  const latency = rows.map(({ variant: { latencyMs } }) => latencyMs);
  const decimals = columnDecimals(
    latency.map((each) => ({ value: each.p99, low: each.p99Low, high: each.p99High })),
    1,
  );
  const p50 = latency.map((each) => fixed(each.p50, decimals));
  const p99 = latency.map((each) => fixed(each.p99, decimals));
  const rss = rows.map(({ variant }) => fixed(variant.rssMiB));

  const valueWidth = Math.max(5, widest(texts.map(({ value }) => value)));
  const rangeWidth = Math.max(13, widest(texts.map(({ range }) => range)));
  const p50Width = Math.max(3, widest(p50));
  const p99Width = Math.max(3, widest(p99));
  const rssWidth = Math.max(3, widest(rss));
  const line = (
    name: string,
    value: string,
    range: string,
    verdict: string,
    tail: [string, string, string, string],
  ): string =>
    `${left(name, nameWidth)} ${right(value, valueWidth)}  ${left(range, rangeWidth)} ${verdict} ${right(tail[0], p50Width)}  ${right(tail[1], p99Width)}${tail[2]} ${right(tail[3], rssWidth)}`;
  const heads = [
    line(cut('CPU per request', nameWidth), 'µs', '95 % interval', left('  verdict', 12), [
      'p50',
      'p99',
      ' ',
      'RSS',
    ]),
    line('', '', '', left('', 12), ['ms', 'ms', ' ', 'MiB']),
  ];
  const lines = tableLines(result, canvas, (row, index) => {
    const { value, range } = texts[index] as ColumnText;
    const mark = row.p99 ? paint(glyphs.marks[row.p99], row.p99, canvas.colour) : ' ';
    return (name) =>
      line(name, value, range, verdictText(row.cpu.reading, canvas), [
        p50[index] ?? '',
        p99[index] ?? '',
        mark,
        rss[index] ?? '',
      ]);
  });
  return [...heads, ...lines];
}

function stepTable(result: BenchResult, canvas: Canvas): string[] {
  const steps = stepsOf(result);
  if (steps.length === 0) return [];
  const { nameWidth, glyphs } = canvas;
  const saved = estimateColumn(
    steps.map((step) => step.saved),
    1,
  );
  const rps = estimateColumn(
    steps.map((step) => step.rps),
    2,
  );
  const savedWidth = Math.max(8, widest(saved.map(({ value }) => value)));
  const savedRange = Math.max(13, widest(saved.map(({ range }) => range)));
  const rpsWidth = Math.max(5, widest(rps.map(({ value }) => value)));
  const line = (
    name: string,
    a: string,
    b: string,
    verdict: string,
    c: string,
    d: string,
  ): string =>
    `${left(name, nameWidth)} ${right(a, savedWidth)}  ${left(b, savedRange)} ${verdict} ${right(c, rpsWidth)} ${d}`;
  const head = line(
    cut('over the rung below', nameWidth),
    'µs saved',
    '95 % interval',
    left('  verdict', 12),
    '× rps',
    '',
  );
  return [
    head,
    ...steps.flatMap((step, index) => {
      const text = verdictText(step.saved.reading, canvas);
      const mark = paint(glyphs.marks[step.rps.reading], step.rps.reading, canvas.colour);
      const cells = (name: string): string =>
        line(
          name,
          saved[index]?.value ?? '',
          saved[index]?.range ?? '',
          text,
          rps[index]?.value ?? '',
          `${rps[index]?.range ?? ''}${mark}`,
        );
      return named(step.name, canvas, cells);
    }),
  ];
}

/** Rows in the order of the report, skipped ones in their place. */
function tableLines(
  result: BenchResult,
  canvas: Canvas,
  cells: (row: MeasuredRow, index: number) => (name: string) => string,
): string[] {
  let index = 0;
  return rowsOf(result).flatMap((row) => {
    if (!isMeasuredRow(row))
      return wrap(`${nameOf(row)} – skipped: ${row.skipped}`, canvas.width, '  ');
    return named(nameOf(row), canvas, cells(row, index++));
  });
}

/** A name too long for its column gets a line of its own: cut, two of them might read the same. */
function named(
  name: string,
  { nameWidth, width }: Canvas,
  cells: (name: string) => string,
): string[] {
  return [...name].length <= nameWidth ? [cells(name)] : [cut(name, width), cells('')];
}

function nameOf(row: Row): string {
  if (row.role === 'control') return `${row.name} (A/A)`;
  return row.name;
}

function verdictText(reading: Reading, { glyphs, colour }: Canvas): string {
  return paint(left(`${glyphs.marks[reading]} ${WORDS[reading]}`, 12), reading, colour);
}

function legend(result: BenchResult, { width, glyphs: { marks } }: Canvas): string[] {
  if (!trustOf(result).cpu) return [];
  const { cpuBand, rpsBand } = result.precision;
  const band =
    cpuBand === rpsBand ? percent(cpuBand) : `${percent(cpuBand)} CPU, ${percent(rpsBand)} rps`;
  const unresolved = measuredRows(result).filter((row) => row.cpu.reading === 'unresolved');
  const settle = unresolved.flatMap((row) => {
    const hint = blocksHint(row.cpu);
    return hint === undefined ? [] : [`${row.name} ${hint}`];
  });
  const shown = settle.slice(0, 4).join(', ') + (settle.length > 4 ? ', …' : '');
  return [
    ...wrap(
      `${marks.better} ${marks.worse} changed: the interval lies wholly outside base ± ${band}   ${marks.same} same: wholly inside`,
      width,
      '    ',
    ),
    ...(unresolved.length > 0
      ? wrap(
          `${marks.unresolved} unresolved: it crosses an edge.${shown === '' ? '' : ` To settle it: ${shown}.`}`,
          width,
          '  ',
        )
      : []),
    ...wrap('A mark at p99: its own interval does not touch the interval of the base.', width),
  ];
}

function files(named: TerminalOptions['files'], { width }: Canvas): string[] {
  const parts = [
    ...(named?.html === undefined ? [] : [`report  ${named.html}`]),
    ...(named?.json === undefined ? [] : [`data  ${named.json}`]),
  ];
  // A path is cut nowhere: it is there to be copied.
  const line = parts.join('      ');
  return [...line].length <= width ? (parts.length > 0 ? [line] : []) : parts;
}
