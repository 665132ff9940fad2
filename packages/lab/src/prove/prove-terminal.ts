import { fileLines, writtenFiles } from '../report/file-lines.ts';
import type { ProveResult } from './result.ts';
import { paint } from '../report/colour.ts';
import { ends, left, right, tableWidth, widest, wrap } from '../report/columns.ts';
import { percent, plural } from '../report/format.ts';
import { glyphsFor } from '../report/glyphs.ts';
import { duration, proveFigures, type ProveRow } from './prove-rows.ts';
import { WORDS } from '../report/reading.ts';
import type { TerminalOptions } from '../report/terminal-options.ts';
import { axisLine, plotLine } from '../report/terminal-plot.ts';

const leastPlot = 10;

/** The report of `redline prove` for people in a terminal. */
export function renderProveTerminal(
  result: ProveResult,
  options: TerminalOptions & { evidence: string },
): string {
  const glyphs = glyphsFor(options.unicode);
  const width = tableWidth(options.width);
  const { rows, axis } = proveFigures(result);
  const { machine, precision } = result;
  const rangeWidth = Math.max(13, widest(rows.map(({ measured }) => measured?.text.range ?? '')));
  const rest = 14 + 1 + 6 + 2 + 2 + rangeWidth + 2 + 12;
  const plotWidth = width - rest < leastPlot ? 0 : width - rest;
  const line = (name: string, ratio: string, plot: string, interval: string, end: string): string =>
    `${left(name, 14)} ${right(ratio, 6)}  ${left(plot, plotWidth)}  ${left(interval, rangeWidth)}  ${end}`;
  const row = ({ node, measured, skipped }: ProveRow): string => {
    if (!measured) return line(`  node ${node}`, '–', '', skipped ?? '', '');
    const { gain, text } = measured;
    const verdict = `${glyphs.marks[gain.reading]} ${WORDS[gain.reading]}`;
    return line(
      `  node ${node}`,
      text.value,
      plotWidth > 0 ? plotLine(axis, gain, plotWidth, glyphs) : '',
      text.range,
      paint(verdict, gain.reading, options.colour),
    );
  };
  const table = result.rules.flatMap((rule) => {
    const own = rows.filter((each) => each.rule === rule);
    const times = own.flatMap(({ measured }) =>
      measured
        ? [`${duration(measured.runtime.beforeNanos)} → ${duration(measured.runtime.afterNanos)}`]
        : [],
    );
    const note = rule.changesResult === undefined ? '' : ', changes the result';
    return [...ends(`${rule.rule}${note}`, times.join(' · '), width), ...own.map(row)];
  });
  const versions = [...new Set(rows.map(({ node }) => node))].join(', ');
  const blocks = [
    [
      glyphs.rule.repeat(width),
      ...ends(
        `PROVE   ${plural(result.rules.length, 'rule')}, Node ${versions}`,
        `${plural(precision.restarts, 'restart')} × ${plural(precision.blocks, 'block')}`,
        width,
      ),
      ...wrap(
        `${machine.cpuModel}, ${plural(machine.cores, 'core')} · ${machine.kernel} · time before / time after`,
        width,
      ),
    ],
    [line('gain', '×', axisLine(axis, plotWidth), '95 % interval', '  verdict'), ...table],
    [
      ...ends(
        `${glyphs.marks.better} ${glyphs.marks.worse} changed: the interval lies wholly outside ± ${percent(precision.leastGain)}`,
        `${glyphs.marks.same} same: around 1, and wholly inside`,
        width,
      ),
      `${glyphs.marks.unresolved} unresolved: neither.`,
      ...fileLines({ evidence: options.evidence, ...writtenFiles(options.files) }, width),
    ],
  ];
  return blocks
    .map((lines) => lines.map((each) => `${glyphs.text(each).trimEnd()}\n`).join(''))
    .join('\n');
}
