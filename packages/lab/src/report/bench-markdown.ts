import type { BenchResult } from '../result.ts';
import { fixed, plural } from './format.ts';
import { isMeasuredRow, rowsOf } from './rows.ts';
import { WORDS } from './reading.ts';
import { resolutionText } from './resolution.ts';

/** The table for a pull request or an agent: the rows of the terminal, each ratio with its interval. */
export function benchMarkdown(result: BenchResult): string {
  const rows = rowsOf(result).map((row) => {
    if (!isMeasuredRow(row))
      return [code(row.name), '–', '–', '–', '–', `not measured: ${row.skipped}`];
    const { variant, cpu, rps } = row;
    const word = WORDS[cpu.reading];
    return [
      code(row.name),
      fixed(variant.cpuMicrosPerRequest, 1),
      row.role === 'base' ? '1' : interval(variant.cpuRatio),
      fixed(variant.rps),
      row.role === 'base' ? '1' : interval(variant.rpsRatio),
      cpu.reading === rps.reading || row.role === 'base'
        ? bold(word)
        : `${bold(word)}, requests per second ${WORDS[rps.reading]}`,
    ];
  });
  return [
    `### ${escaped(result.title)}`,
    '',
    ...result.warnings.map((text) => `> ${escaped(text)}\n`),
    line(['', 'CPU µs', '× less CPU', 'requests/s', '× requests/s', 'verdict']),
    line(['---', '--:', '--:', '--:', '--:', '---']),
    ...rows.map((cells) => line(cells)),
    '',
    `${resolutionText(result) ?? 'Without an A/A control.'} ${plural(result.precision.restarts, 'restart')}, ${fixed(result.durationSeconds / 60, 1)} minutes, ${escaped(result.load.requests.join(', '))}.`,
    '',
  ].join('\n');
}

function interval({ value, low, high }: { value: number; low: number; high: number }): string {
  return `${fixed(value, 3)} [${fixed(low, 3)}, ${fixed(high, 3)}]`;
}

function bold(word: string): string {
  return word === 'changed' ? `**${word}**` : word;
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function code(name: string): string {
  return `\`${name.replaceAll('`', "'").replaceAll('|', '\\|')}\``;
}

function escaped(text: string): string {
  return text.replaceAll(/[<>|*_`]/g, '\\$&');
}
