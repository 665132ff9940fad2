import { blocksText } from '../../report/blocks.ts';
import { fileLines, writtenFiles } from '../../report/file-lines.ts';
import { paint } from '../../report/colour.ts';
import { ends, left, right, tableWidth, widest, widthOf, wrap } from '../../report/columns.ts';
import { seconds } from '../../report/format.ts';
import { type Glyphs, glyphsFor } from '../../report/glyphs.ts';
import type { TerminalOptions } from '../../report/terminal-options.ts';
import { unchanged, withRedline } from '../app.ts';
import type { TryResult } from '../result.ts';
import { sentenceOf } from '../verdict.ts';
import { circumstances, nextCommand, type TryRow, tryRows } from './try-rows.ts';

/** Renders one screen for a terminal. */
export function renderTryTerminal(result: TryResult, options: TerminalOptions): string {
  const glyphs = glyphsFor(options.unicode);
  const width = tableWidth(options.width);
  const { where, checked, what } = circumstances(result);
  const blocks = [
    [
      glyphs.rule.repeat(width),
      ...ends(`TRY   ${result.title}`, seconds(result.durationSeconds), width),
      ...wrap(where, width),
      ...(result.requestsFrom === '' ? [] : wrap(result.requestsFrom, width)),
      ...wrap(checked, width),
    ],
    result.bench.warnings.flatMap((text) => wrap(`! ${text}`, width, '  ')),
    table(tryRows(result), width, options.colour, glyphs),
    [
      ...wrap(sentenceOf(result), width),
      ...(result.word === 'gains'
        ? [
            `To keep it (${what.replace(/\.$/, '')}):`,
            ...result.keep.flatMap((line) => commandLines(line, width)),
          ].flatMap((line) => (widthOf(line) <= width ? [line] : wrap(line, width)))
        : wrap(`Tried: ${what}`, width)),
    ],
    [...fileLines(writtenFiles(options.files), width), ...nextLines(nextCommand(result), width)],
  ];
  return blocksText(blocks, glyphs);
}

function nextLines(command: string, width: number): string[] {
  const whole = `Next: ${command}`;
  return widthOf(whole) <= width ? [whole] : ['Next:', ...commandLines(command, width)];
}

const indent = '  ';

/** Commands are meant to be copied: one that is too long is wrapped with a backslash at the end of the line. */
function commandLines(command: string, width: number): string[] {
  const whole = indent + command;
  if (widthOf(whole) <= width) return [whole];
  const lines = wrap(command, width - indent.length - 2, indent);
  return lines.map((line, index) => `${indent}${line}${index < lines.length - 1 ? ' \\' : ''}`);
}

function table(
  rows: readonly TryRow[],
  width: number,
  colour: boolean,
  { marks }: Glyphs,
): string[] {
  if (rows.length === 0) return [];
  const nameWidth = widest(rows.map(({ what }) => what));
  const beforeWidth = widest([unchanged, ...rows.map(({ before }) => before)]);
  const afterWidth = widest([withRedline, ...rows.map(({ after }) => after)]);
  const ratioWidth = widest(['gain', ...rows.map(({ gain }) => gain?.ratio ?? '')]);
  const rangeWidth = widest(['95 % interval', ...rows.map(({ gain }) => gain?.range ?? '')]);
  const figures = (name: string, before: string, after: string, ratio: string): string =>
    `${left(name, nameWidth)}  ${right(before, beforeWidth)}  ${right(after, afterWidth)}  ${right(ratio, ratioWidth)}`;
  const verdict = ({ gain }: TryRow): string =>
    gain === undefined
      ? ''
      : `${left(gain.range, rangeWidth)}  ${paint(`${marks[gain.reading]} ${gain.word}`.trim(), gain.reading, colour)}`;
  const start = widthOf(figures('', '', '', ''));
  const hasRoom = start + 2 + rangeWidth + 2 + 'x unresolved'.length <= width;
  return [
    `${figures('', unchanged, withRedline, 'gain')}${hasRoom ? '  95 % interval' : ''}`,
    ...rows.flatMap((row) => {
      const line = figures(row.what, row.before, row.after, row.gain?.ratio ?? '');
      if (row.gain === undefined) return [line];
      return hasRoom
        ? [`${line}  ${verdict(row)}`]
        : [line, ' '.repeat(nameWidth + 2) + verdict(row)];
    }),
  ];
}
