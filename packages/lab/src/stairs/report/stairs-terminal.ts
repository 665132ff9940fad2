import { callsBlock } from '../../calls-out/report/calls-terminal.ts';
import { blocksText } from '../../report/blocks.ts';
import { fileLines, writtenFiles } from '../../report/file-lines.ts';
import type { StairsResult } from '../result.ts';
import { axisLine } from '../../report/terminal-plot.ts';
import { cutApart, ends, lineOf, named, tableWidth, widest, wrap } from '../../report/columns.ts';
import { fixed, percent, plural, range } from '../../report/format.ts';
import { type Glyphs, glyphsFor } from '../../report/glyphs.ts';
import {
  costliest,
  stairFigures,
  type StairFigures,
  type StairRow,
  unattributed,
} from './stairs-rows.ts';
import type { TerminalOptions } from '../../report/terminal-options.ts';
import {
  allocatedText,
  collectorText,
  memorySentence,
  stairsResolution,
  waitText,
  whatIfSentence,
} from './stairs-words.ts';

const maxNameWidth = 28;
const minNameWidth = 13;
/** Room for the mark and the longest word. */
const verdictWidth = 12;
const minPlotWidth = 10;
/** Room for a share in per cent with a decimal. */
const collectorWidth = 4;

const words = { changed: 'changed', same: 'same', unresolved: 'unresolved', withheld: 'withheld' };

/** Renders the waterfall for a terminal; it is complete without colour. */
export function renderStairsTerminal(result: StairsResult, options: TerminalOptions): string {
  const glyphs = glyphsFor(options.unicode);
  const width = tableWidth(options.width);
  const figures = stairFigures(result);
  const blocks = [
    heading(result, width, glyphs),
    result.warnings.flatMap((text) => wrap(`! ${text}`, width, '  ')),
    table(result, figures, width, glyphs),
    callsBlock(result.calls, width),
    notes(result, figures, width),
    fileLines(writtenFiles(options.files), width),
  ];
  return blocksText(blocks, glyphs);
}

function heading(result: StairsResult, width: number, glyphs: Glyphs): string[] {
  const { precision, machine, load, app } = result;
  const counts = `${plural(result.stages.length, 'stage')} · ${rounds(result)}`;
  const noise = Math.max(Math.abs(result.whole.control.low), Math.abs(result.whole.control.high));
  return [
    glyphs.rule.repeat(width),
    ...ends(`STAIRS   ${result.title}`, counts, width),
    ...wrap(
      `${machine.cpuModel}, ${plural(machine.cores, 'core')} · ${machine.kernel} · Node.js ${app.node.replace(/^v/, '')}`,
      width,
    ),
    ...wrap(
      `${machine.pinning} · ${plural(load.connections, 'connection')} · slices of ${fixed(precision.guardMs + precision.countedMs)} ms`,
      width,
    ),
    ...wrap(`${stairsResolution(result)} A/A noise ± ${fixed(noise, 2)} µs`, width),
  ];
}

type StairColumn =
  | 'name'
  | 'micros'
  | 'range'
  | 'share'
  | 'wait'
  | 'allocated'
  | 'collector'
  | 'rps'
  | 'plot'
  | 'verdict';

/** Layout of the table for the available width. */
interface Layout {
  line: (cells: Readonly<Record<StairColumn, string>>) => string;
  nameWidth: number;
  plotWidth: number;
  hasWaits: boolean;
  /** True if verdicts show their words, not only their marks. */
  hasWords: boolean;
}

function layOut({ rows, whole }: StairFigures, width: number): Layout {
  const rps = rows.map(({ stage }) => fixed(stage.rpsIfItEnded.value));
  const microsWidth = Math.max(5, widest([...rows.map(({ micros }) => micros), whole.micros]));
  const rangeWidth = Math.max(13, widest([...rows.map((row) => row.range), whole.range]));
  const rpsWidth = Math.max(7, widest(rps));
  const waits = rows.map(({ stage }) => waitText(stage));
  const hasWaits = waits.some((text) => text !== '');
  const waitWidth = hasWaits ? Math.max(7, widest(waits)) : 0;
  const base = 1 + microsWidth + 2 + rangeWidth + 1 + 4 + 2 + 2 + (hasWaits ? waitWidth + 2 : 0);
  const allocated = rows.map(({ stage }) => allocatedText(stage));
  const allocatedWidth = Math.max(5, widest(allocated));
  const memoryWidth = allocatedWidth + 2 + collectorWidth + 1;
  // The page has memory in any case.
  const hasMemory =
    allocated.some((text) => text !== '') && width - base - memoryWidth - 1 >= minNameWidth;
  const others = base + (hasMemory ? memoryWidth : 0);
  // The marks suffice: their words are on the page.
  const hasWords = width - others - minNameWidth >= verdictWidth;
  const withVerdict = others + (hasWords ? verdictWidth : 1);
  // Bars and waits are more useful than the throughput of partial requests.
  const hasRps = width - withVerdict - rpsWidth - 2 - minNameWidth >= minPlotWidth;
  const rest = withVerdict + (hasRps ? rpsWidth + 2 : 0);
  const nameWidth = Math.max(
    minNameWidth,
    Math.min(
      maxNameWidth,
      widest(rows.map(({ stage }) => stage.name)),
      width - rest - minPlotWidth,
    ),
  );
  const plotWidth = Math.max(0, width - rest - nameWidth);
  const line = lineOf<StairColumn>({
    name: { width: nameWidth, gap: 0 },
    micros: { width: microsWidth, gap: 1, align: 'right' },
    range: { width: rangeWidth },
    share: { width: 4, gap: 1, align: 'right' },
    wait: { width: waitWidth, gap: hasWaits ? 2 : 0, align: 'right' },
    allocated: { width: hasMemory ? allocatedWidth : 0, gap: hasMemory ? 2 : 0, align: 'right' },
    collector: { width: hasMemory ? collectorWidth : 0, gap: hasMemory ? 1 : 0, align: 'right' },
    rps: { width: hasRps ? rpsWidth : 0, gap: hasRps ? 2 : 0, align: 'right' },
    plot: { width: plotWidth },
    verdict: { width: 0 },
  });
  return {
    nameWidth,
    line: ({ rps: end, allocated: bytes, collector, ...cells }) =>
      line({
        ...cells,
        rps: hasRps ? end : '',
        allocated: hasMemory ? bytes : '',
        collector: hasMemory ? collector : '',
      }),
    plotWidth,
    hasWaits,
    hasWords,
  };
}

function table(
  result: StairsResult,
  figures: StairFigures,
  width: number,
  glyphs: Glyphs,
): string[] {
  const { rows, axis, whole } = figures;
  const { line, nameWidth, plotWidth, hasWaits, hasWords } = layOut(figures, width);
  const names = cutApart(rows.map(nameAt(rows)), nameWidth);
  const isWide = plotWidth >= minPlotWidth - 2;
  const full = glyphs.barSteps.at(-1) ?? '#';
  return [
    line({
      name: 'stage',
      micros: 'µs',
      range: '95 % interval',
      share: '%',
      wait: hasWaits ? 'ms wait' : '',
      allocated: 'kB',
      collector: 'gc %',
      rps: 'rps end',
      plot: isWide ? axisLine(axis, plotWidth) : '',
      verdict: hasWords ? 'verdict' : '',
    }),
    ...rows.flatMap((row, index) =>
      named(names[index]!, nameWidth, width, (name) =>
        line({
          name,
          micros: row.micros,
          range: row.range,
          share: fixed(row.stage.share * 100),
          wait: waitText(row.stage),
          allocated: allocatedText(row.stage),
          collector: collectorText(row.stage),
          rps: fixed(row.stage.rpsIfItEnded.value),
          plot: isWide ? bar(row, figures, plotWidth, glyphs) : '',
          verdict: hasWords ? verdict(row, glyphs) : markOf(row, glyphs),
        }),
      ),
    ),
    line({
      name: 'whole request',
      micros: whole.micros,
      range: whole.range,
      share: '',
      wait: '',
      allocated: allocatedText(result.whole),
      collector: collectorText(result.whole),
      rps: fixed(result.whole.rps.value),
      plot: isWide ? full.repeat(Math.round(axis.at(result.whole.micros.value) * plotWidth)) : '',
      verdict: hasWords ? 'measured' : '',
    }),
  ];
}

/** Appends the line number if another stage has the same name. */
function nameAt(rows: readonly StairRow[]): (row: StairRow) => string {
  return ({ stage: { name, place } }) => {
    const line = /:\d+$/.exec(place)?.[0] ?? '';
    const isTwice = rows.filter(({ stage }) => stage.name === name).length > 1;
    return isTwice && !name.endsWith(line) ? `${name} ${line}` : name;
  };
}

/** Draws a bar that starts on a whole cell and ends in eighths; a stage without a cost keeps a mark at its place. */
function bar(
  { fromMicros, toMicros, reading, stage }: StairRow,
  { axis }: StairFigures,
  width: number,
  glyphs: Glyphs,
): string {
  const eighths = glyphs.barSteps.length;
  const from = Math.min(
    width - 1,
    Math.max(0, Math.round(axis.at(Math.min(fromMicros, toMicros)) * width)),
  );
  const steps = Math.round(Math.abs(axis.at(toMicros) - axis.at(fromMicros)) * width * eighths);
  if (reading === 'same') return `${' '.repeat(from)}${glyphs.marks.same}`;
  if (reading === 'unresolved' || stage.micros.value <= 0)
    return `${' '.repeat(from)}${glyphs.hollow}`;
  const whole = Math.floor(steps / eighths);
  const part = steps % eighths;
  const end = part > 0 ? glyphs.barSteps[part - 1]! : whole === 0 ? glyphs.barSteps[0]! : '';
  return ' '.repeat(from) + (glyphs.barSteps.at(-1) ?? '#').repeat(whole) + end;
}

function verdict(row: StairRow, glyphs: Glyphs): string {
  return `${markOf(row, glyphs)} ${words[row.reading]}`;
}

function markOf({ reading }: StairRow, { marks }: Glyphs): string {
  return reading === 'changed' || reading === 'withheld' ? ' ' : marks[reading];
}

function notes(result: StairsResult, figures: StairFigures, width: number): string[] {
  const top = costliest(figures);
  const included = result.stages.filter(({ includes }) => includes.length > 0);
  const texts = [
    unattributed(result, figures),
    `A stage runs from its entry to the next one's. changed: its cost is beyond ${figures.bandText}${top ? `. ${top.stage.name}${top.stage.place === '' ? '' : ` (${top.stage.place})`} is ${percent(top.stage.share)}` : ''}.`,
    ...(result.stages.some((stage) => waitText(stage) !== '')
      ? ['ms wait: how long the event loop was idle before the next stage, one request at a time.']
      : []),
    ...memoryNotes(result),
    'rps end: requests per second of one core if the request ended there, derived from its CPU.',
    ...included.map(({ name, includes }) => `${name} includes ${some(includes)}.`),
    ...result.leftOut.map(({ name, reason }) => `${name} was not cut: ${reason}.`),
    ...(result.whatIf ? [whatIfSentence(result.whatIf)] : []),
    ...budgetLines(result),
  ];
  return texts.flatMap((text) => wrap(text, width, '  '));
}

function memoryNotes(result: StairsResult): string[] {
  const sentence = memorySentence(result);
  if (sentence === undefined) return [];
  return [
    `kB: allocated per request, counted after all that was timed. gc %: the garbage collector's part of the request's CPU. ${sentence}`,
  ];
}

function budgetLines({ budget }: StairsResult): string[] {
  if (budget === undefined) return [];
  const over = budget.rows.filter(({ status }) => status === 'over' || status === 'missing');
  if (over.length === 0) return [`Every stage keeps its budget (${budget.file}).`];
  return over.map(({ name, measured, limit, status }) =>
    status === 'missing'
      ? `Budget: "${name}" is no longer reached; remove it from ${budget.file}, or find out why.`
      : `Over budget: ${name} costs ${fixed(measured!.value, 2)} ${range(measured!, 2)} ${unitText(budget.unit)}; the limit is ${fixed(limit!, 2)}.`,
  );
}

export function unitText(unit: 'µs' | 'floor'): string {
  return unit === 'µs' ? 'µs' : 'floors';
}

function rounds({ precision }: StairsResult): string {
  const each = plural(precision.rounds, 'round');
  return precision.restarts === 1 ? each : `${plural(precision.restarts, 'restart')} × ${each}`;
}

function some(names: readonly string[]): string {
  return names.length > 4
    ? `${names.slice(0, 4).join(', ')} and ${names.length - 4} more`
    : names.join(', ');
}
