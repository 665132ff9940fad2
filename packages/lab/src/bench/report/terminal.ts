import { blocksText } from '../../report/blocks.ts';
import type { TerminalOptions } from '../../report/terminal-options.ts';
import { fileLines, writtenFiles } from '../../report/file-lines.ts';
import type { BenchResult } from '../result.ts';
import { controlFailureText, controlMissingText } from './header.ts';
import { ends, tableWidth, wrap } from '../../report/columns.ts';
import { type Figures, figuresOf } from './figures.ts';
import { percent, plural } from '../../report/format.ts';
import { type Glyphs, glyphsFor } from '../../report/glyphs.ts';
import { stealText } from '../../report/words.ts';
import { trustOf } from './trust.ts';
import { resolutionText } from './resolution.ts';
import { noiseOf } from './rows.ts';
import { type Canvas, cpuTable, rpsTable, stepTable } from './terminal-tables.ts';
import { floorText, marginOf, rounds } from './words.ts';
import { noiseText, restartsHint } from '../../report/words.ts';

/** Renders the report for a terminal: complete without colour, ends with a line break. */
export function renderTerminal(result: BenchResult, options: TerminalOptions): string {
  const figures = figuresOf(result);
  const glyphs = glyphsFor(options.unicode);
  const width = tableWidth(options.width);
  const canvas: Canvas = { width, colour: options.colour, glyphs };
  const blocks = [
    heading(result, width, glyphs),
    alarms(result, width),
    rpsTable(figures, canvas),
    cpuTable(figures, canvas),
    stepTable(figures, canvas),
    wrap(floorText(result) ?? '', width, '  ').filter((line) => line !== ''),
    [...legend(result, figures, canvas), ...fileLines(writtenFiles(options.files), width)],
  ];
  return blocksText(blocks, glyphs);
}

function heading(result: BenchResult, width: number, glyphs: Glyphs): string[] {
  const { machine, load } = result;
  const noise = noiseOf(result);
  const counts = [
    plural(result.variants.length, 'variant'),
    rounds(result),
    plural(load.connections, 'connection'),
  ];
  return [
    glyphs.rule.repeat(width),
    ...ends(`${result.command.toUpperCase()}   ${result.title}`, counts.join(' · '), width),
    ...wrap(
      `${machine.cpuModel}, ${plural(machine.cores, 'core')} · ${machine.kernel} · Node.js ${machine.node.replace(/^v/, '')}`,
      width,
    ),
    ...wrap(`${machine.pinning} · ${stealText(machine.steal)}`, width),
    ...wrap(
      [resolutionText(result), `A/A noise ${noise ? noiseText(noise) : 'not measured'}`]
        .filter((text) => text !== undefined)
        .join(' '),
      width,
    ),
  ];
}

/** Returns the alarms, which come before the first figure so that they are not missed. */
function alarms(result: BenchResult, width: number): string[] {
  const failure = controlFailureText(result);
  const missing = controlMissingText(result);
  const texts = [
    ...(failure ? [`${failure.headline} ${failure.text}`] : []),
    ...(missing === undefined ? [] : [missing]),
    ...result.warnings,
  ];
  return texts.flatMap((text) => wrap(`! ${text}`, width, '  '));
}

function legend(
  result: BenchResult,
  figures: Figures,
  { width, glyphs: { marks } }: Canvas,
): string[] {
  if (!trustOf(result).cpu) return [];
  const { cpuBand, rpsBand } = result.precision;
  const same = percent(cpuBand) === percent(rpsBand);
  const band = same ? percent(cpuBand) : `${percent(cpuBand)} CPU, ${percent(rpsBand)} rps`;
  const hints = figures.measured.flatMap((row) => {
    const hint = restartsHint(row.cpu);
    return hint === undefined ? [] : [`${row.name} ${hint}`];
  });
  const open = [...figures.measured, ...figures.steps].some(
    ({ cpu, rps }) => cpu.reading === 'unresolved' || rps.reading === 'unresolved',
  );
  const crosses = `${marks.unresolved} unresolved: neither.`;
  const beside = figures.rows.some((row) => row.role === 'beside')
    ? ['Indented: beside the ladder, not a rung; its step is against the rung before.']
    : [];
  return [
    ...ends(
      `${marks.better} ${marks.worse} changed: beyond base ± ${band}, base not in the interval`,
      `${marks.same} same: around 1, within ± ${percent(marginOf(result))}`,
      width,
    ),
    ...(open
      ? wrap(hints.length > 0 ? `${crosses} To settle it: ${some(hints)}.` : crosses, width, '  ')
      : []),
    ...wrap('A mark at p99: its own interval does not touch the interval of the base.', width),
    ...beside.flatMap((text) => wrap(text, width)),
  ];
}

function some(texts: readonly string[]): string {
  return texts.length > 3 ? `${texts.slice(0, 3).join(', ')}, …` : texts.join(', ');
}
