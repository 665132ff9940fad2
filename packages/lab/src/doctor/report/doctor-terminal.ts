import { callsBlock } from '../../calls-out/report/calls-terminal.ts';
import { figuresOf } from '../../bench/report/figures.ts';
import { type Canvas, cpuTable, rpsTable, stepTable } from '../../bench/report/terminal-tables.ts';
import { cut, ends, tableWidth, widthOf, wrap } from '../../report/columns.ts';
import { fileLines, writtenFiles } from '../../report/file-lines.ts';
import { seconds } from '../../report/format.ts';
import { glyphsFor } from '../../report/glyphs.ts';
import type { TerminalOptions } from '../../report/terminal-options.ts';
import type { DoctorResult, Finding } from '../result.ts';
import {
  cachedRouteTexts,
  circumstances,
  costNote,
  costText,
  countText,
  nothingText,
  placeOf,
  proofText,
  shareText,
  togetherText,
} from './doctor-rows.ts';

const indent = '    ';

/** Renders the report of `redline doctor` for a terminal. */
export function renderDoctorTerminal(result: DoctorResult, options: TerminalOptions): string {
  const glyphs = glyphsFor(options.unicode);
  const width = tableWidth(options.width);
  const isMeasured = result.findings.some(({ cost }) => cost !== undefined);
  const together = togetherText(result);
  const blocks = [
    [
      glyphs.rule.repeat(width),
      ...ends(
        `DOCTOR   ${result.title}`,
        `${countText(result)} · ${seconds(result.durationSeconds)}`,
        width,
      ),
      ...circumstances(result).flatMap((text) => wrap(text, width)),
    ],
    result.warnings.flatMap((text) => wrap(`! ${text}`, width, '  ')),
    ...result.findings.map((finding, index) => findingLines(result, finding, index + 1, width)),
    result.findings.length === 0 ? wrap(nothingText(result) ?? '', width) : [],
    callsBlock(result.measured?.calls, width),
    ...cachedBlocks(result, width),
    ...ladderBlocks(result, { width, colour: options.colour, glyphs }),
    [
      ...(together === undefined ? [] : wrap(together, width)),
      ...(isMeasured ? wrap(costNote, width) : []),
      ...fileLines(writtenFiles(options.files), width),
      ...wrap(`Next: ${nextCommand(result)}`, width),
    ],
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => `${glyphs.text(line).trimEnd()}\n`).join(''))
    .join('\n');
}

function cachedBlocks(result: DoctorResult, width: number): string[][] {
  const texts = cachedRouteTexts(result);
  if (texts.length === 0) return [];
  return [
    [
      'CACHED   read of requests by each cached route',
      ...texts.flatMap((text) => wrap(text, width, indent)),
    ],
  ];
}

/** Returns the tables of a ladder, one block each. */
function ladderBlocks({ ladder }: DoctorResult, canvas: Canvas): string[][] {
  if (ladder === undefined) return [];
  const figures = figuresOf(ladder);
  return [
    wrap(`LADDER   ${ladder.title}:`, canvas.width),
    rpsTable(figures, canvas),
    cpuTable(figures, canvas),
    stepTable(figures, canvas),
  ];
}

function findingLines(
  result: DoctorResult,
  finding: Finding,
  number: number,
  width: number,
): string[] {
  const { rule, why, how, excerpt, diff, proof } = finding;
  const inner = width - indent.length;
  const indented = (text: string): string[] => wrap(text, inner).map((line) => indent + line);
  return [
    ...headLines(result, finding, number, width),
    ...ends(`${indent}${placeOf(finding)}`, rule, width),
    ...(proof === undefined ? [] : indented(proofText(proof))),
    ...(diff === '' ? indented(excerpt) : []),
    ...indented(why),
    ...indented(how),
    ...diffLines(diff).map((line) => indent + cut(line, inner)),
  ];
}

/** Returns the title and cost of a finding: on one line if they fit. */
function headLines(
  { measured }: DoctorResult,
  finding: Finding,
  number: number,
  width: number,
): string[] {
  const title = `${String(number).padStart(2)}  ${finding.title}`;
  const texts = [costText(finding), shareText(finding, measured)].filter((text) => text !== '');
  const state = [texts.join(', '), finding.sure].filter((text) => text !== '').join(' · ');
  if (widthOf(title) + 2 + widthOf(state) <= width) return ends(title, state, width);
  const lines = wrap(finding.title, width - indent.length).map((line) => indent + line);
  const [first = '', ...rest] = lines;
  return [title.slice(0, indent.length) + first.slice(indent.length), ...rest, indent + state];
}

/** Returns the changed lines without context: the page and the data contain the whole diff. */
function diffLines(diff: string): string[] {
  return diff
    .split('\n')
    .filter((line) => /^[-+]/.test(line) && !/^(---|\+\+\+) /.test(line) && line.trim().length > 1);
}

function nextCommand({ measured, app: { started } }: DoctorResult): string {
  if (measured === undefined || started === undefined)
    return 'redline doctor -- COMMAND, which measures what each of them costs';
  return `redline try ${started}`;
}
