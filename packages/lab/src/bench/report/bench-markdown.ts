import { limitSentences } from '../limit.ts';
import type { BenchResult } from '../result.ts';
import type { Interval } from '../../figures.ts';
import { fixed, plural } from '../../report/format.ts';
import {
  bold,
  code,
  escaped,
  heading,
  list,
  markdownOf,
  table,
  warningList,
} from '../../report/markdown.ts';
import { WORDS } from '../../report/reading.ts';
import { resolutionText } from './resolution.ts';
import { floorText } from './words.ts';
import { isMeasuredRow, rowsOf } from './rows.ts';

/** Renders the rows of the terminal report, each ratio with its interval. */
export function benchMarkdown(result: BenchResult): string {
  const rows = rowsOf(result).map((row) => {
    if (!isMeasuredRow(row))
      return [code(row.name), '–', '–', '–', '–', `not measured: ${escaped(row.skipped)}`];
    const { variant, cpu, rps } = row;
    const word = WORDS[cpu.reading];
    return [
      code(row.name),
      fixed(variant.cpuMicrosPerRequest, 1),
      row.role === 'base' ? '1' : interval(variant.cpuRatio),
      fixed(variant.rps),
      row.role === 'base' ? '1' : interval(variant.rpsRatio),
      cpu.reading === rps.reading || row.role === 'base'
        ? verdict(word)
        : `${verdict(word)}, requests per second ${WORDS[rps.reading]}`,
    ];
  });
  const floor = floorText(result);
  const columns = [
    '',
    { right: 'CPU µs' },
    { right: '× less CPU' },
    { right: 'requests/s' },
    { right: '× requests/s' },
    'verdict',
  ];
  return markdownOf(
    heading(result.title),
    warningList(result.warnings),
    result.limit && list(limitSentences(result.limit).map(escaped)),
    table(columns, rows),
    floor === undefined ? undefined : escaped(floor),
    `${resolutionText(result) ?? 'Without an A/A control.'} ${plural(result.precision.restarts, 'restart')}, ${fixed(result.durationSeconds / 60, 1)} minutes, ${escaped(result.load.requests.join(', '))}.`,
  );
}

function interval({ value, low, high }: Interval): string {
  return `${fixed(value, 3)} [${fixed(low, 3)}, ${fixed(high, 3)}]`;
}

function verdict(word: string): string {
  return word === 'changed' ? bold(word) : word;
}
