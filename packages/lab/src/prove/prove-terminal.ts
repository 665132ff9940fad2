import { blocksText } from '../report/blocks.ts';
import { fileLines, writtenFiles } from '../report/file-lines.ts';
import type { ProveResult } from './result.ts';
import { paint } from '../report/colour.ts';
import { ends, lineOf, tableWidth, widest, wrap } from '../report/columns.ts';
import { percent, plural } from '../report/format.ts';
import { type Glyphs, glyphsFor } from '../report/glyphs.ts';
import { duration, proveFigures, type ProveRow } from './prove-rows.ts';
import { WORDS } from '../report/reading.ts';
import type { TerminalOptions } from '../report/terminal-options.ts';
import { axisLine, plotLine } from '../report/terminal-plot.ts';

const minPlotWidth = 10;

/** Renders the report of `redline prove` for a terminal. */
export function renderProveTerminal(
  result: ProveResult,
  options: TerminalOptions & { evidence: string },
): string {
  const glyphs = glyphsFor(options.unicode);
  const width = tableWidth(options.width);
  const blocks = [
    heading(result, width, glyphs),
    table(result, { width, glyphs, colour: options.colour }),
    [
      ...legend(result, width, glyphs),
      ...fileLines({ evidence: options.evidence, ...writtenFiles(options.files) }, width),
    ],
  ];
  return blocksText(blocks, glyphs);
}

function heading(
  { rules, machine, precision }: ProveResult,
  width: number,
  glyphs: Glyphs,
): string[] {
  const measured = rules.flatMap(({ runtimes }) => runtimes.map(({ node }) => node));
  return [
    glyphs.rule.repeat(width),
    ...ends(
      `PROVE   ${plural(rules.length, 'rule')}, Node ${[...new Set(measured)].join(', ')}`,
      `${plural(precision.restarts, 'restart')} × ${plural(precision.blocks, 'block')}`,
      width,
    ),
    ...wrap(
      `${machine.cpuModel}, ${plural(machine.cores, 'core')} · ${machine.kernel} · time before / time after`,
      width,
    ),
  ];
}

interface Canvas {
  width: number;
  glyphs: Glyphs;
  colour: boolean;
}

function table(result: ProveResult, { width, glyphs, colour }: Canvas): string[] {
  const { rows, axis } = proveFigures(result);
  const rangeWidth = Math.max(13, widest(rows.map(({ measured }) => measured?.text.range ?? '')));
  const rest = 14 + 1 + 6 + 2 + 2 + rangeWidth + 2 + 12;
  const plotWidth = width - rest < minPlotWidth ? 0 : width - rest;
  const line = lineOf({
    name: { width: 14, gap: 0 },
    ratio: { width: 6, gap: 1, align: 'right' },
    plot: { width: plotWidth },
    range: { width: rangeWidth },
    verdict: { width: 0 },
  });
  const lineFor = ({ node, measured, skipped }: ProveRow): string => {
    const name = `  node ${node}`;
    if (!measured) return line({ name, ratio: '–', plot: '', range: skipped ?? '', verdict: '' });
    const { gain, text } = measured;
    const verdict = `${glyphs.marks[gain.reading]} ${WORDS[gain.reading]}`;
    return line({
      name,
      ratio: text.value,
      plot: plotWidth > 0 ? plotLine(axis, gain, plotWidth, glyphs) : '',
      range: text.range,
      verdict: paint(verdict, gain.reading, colour),
    });
  };
  const plot = axisLine(axis, plotWidth);
  return [
    line({ name: 'gain', ratio: '×', plot, range: '95 % interval', verdict: '  verdict' }),
    ...result.rules.flatMap((rule) => {
      const own = rows.filter((each) => each.rule === rule);
      const times = own.flatMap(({ measured }) =>
        measured
          ? [`${duration(measured.runtime.beforeNanos)} → ${duration(measured.runtime.afterNanos)}`]
          : [],
      );
      const note = rule.changesResult === undefined ? '' : ', changes the result';
      return [...ends(`${rule.rule}${note}`, times.join(' · '), width), ...own.map(lineFor)];
    }),
  ];
}

function legend({ precision }: ProveResult, width: number, { marks }: Glyphs): string[] {
  return [
    ...ends(
      `${marks.better} ${marks.worse} changed: the interval lies wholly outside ± ${percent(precision.leastGain)}`,
      `${marks.same} same: around 1, and wholly inside`,
      width,
    ),
    `${marks.unresolved} unresolved: neither.`,
  ];
}
