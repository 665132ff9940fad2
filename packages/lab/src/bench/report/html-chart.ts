import type { BenchResult } from '../result.ts';
import { type Figures, figuresOf } from './figures.ts';
import { type ColumnText, fixed, percent } from '../../report/format.ts';
import { markup, type Markup } from '../../report/markup.ts';
import { axisHeader, bar, dot, plotBackground, plotCell, whisker } from '../../report/plot.ts';
import { spokenWord, WORDS } from '../../report/reading.ts';
import { isMeasuredRow, type MeasuredRow, type SkippedRow } from './rows.ts';

/**
 * Renders the ladder as a table to embed in another page: with fewer columns than a report, and styled by that page. A plot is an
 * SVG whose marks have the classes of the reports.
 */
export function renderHtmlChart(result: BenchResult): string {
  const figures = figuresOf(result);
  const { rpsAxis, cpuAxis, rows } = figures;
  return markup`<svg class="defs" aria-hidden="true"><marker id="cap" markerUnits="userSpaceOnUse" markerWidth="3" markerHeight="10" refX="1.5" refY="5"><path d="M1.5 1V9" stroke="context-stroke" stroke-width="1.5"/></marker></svg>
<table class="t" role="table" aria-label="${result.title}"><thead role="rowgroup"><tr role="row"><th role="columnheader" class="name">Rung</th><th role="columnheader" class="plot">requests/s, × base (log)${axisHeader(rpsAxis)}</th><th role="columnheader" class="n">× base</th><th role="columnheader" class="plot">CPU µs per request${axisHeader(cpuAxis)}</th><th role="columnheader" class="n">µs</th><th role="columnheader" class="word">Verdict</th></tr></thead>
<tbody role="rowgroup">${rows.map((row) => (isMeasuredRow(row) ? measured(row, figures) : skipped(row)))}</tbody></table>
<p class="facts">${facts(result)}</p>
`.text;
}

function measured(row: MeasuredRow, figures: Figures): Markup {
  const { rpsAxis, cpuAxis, rpsBand, cpuBand, baseMicros } = figures;
  const rps = figures.rps.get(row)!;
  const cpu = figures.cpu.get(row)!;
  const rpsPlot = plotCell(
    `${row.name}: ${rps.value} × the requests per second of the base, ${spokenWord(row.rps.reading)}`,
    intervalOf(rps, ''),
    markup`${whisker(rpsAxis, row.rps)}${dot(rpsAxis, row.rps)}`,
  );
  const cpuPlot = plotCell(
    `${row.name}: ${cpu.value} µs CPU per request, ${spokenWord(row.cpu.reading)}`,
    intervalOf(cpu, ' µs'),
    markup`${bar(cpuAxis, 0, row.cpu)}${whisker(cpuAxis, row.cpu)}`,
  );
  const bound = row.rpsIsLowerBound ? '≥\u00a0' : '';
  return markup`<tr role="row" class="${row.role}">${nameCell(row)}<td role="cell" class="plot" style="background:${plotBackground(rpsAxis, 1, rpsBand)}">${rpsPlot}</td><td role="cell" class="n rps">${figure(rps, ' ×', bound)}</td><td role="cell" class="plot" style="background:${plotBackground(cpuAxis, baseMicros, cpuBand)}">${cpuPlot}</td><td role="cell" class="n cpu">${figure(cpu, ' µs')}</td><td role="cell" class="word"><span class="v ${row.cpu.reading}">${WORDS[row.cpu.reading]}</span></td></tr>
`;
}

function skipped(row: SkippedRow): Markup {
  return markup`<tr role="row" class="${row.role}">${nameCell(row)}<td role="cell" class="skipped" colspan="5">skipped: ${row.skipped}</td></tr>
`;
}

function nameCell({ role, name, note }: MeasuredRow | SkippedRow): Markup {
  const words = [role === 'beside' && 'beside the ladder', note].filter(Boolean).join(', ');
  return markup`<th role="rowheader" scope="row" class="name">${name}${words !== '' && markup`<small>${words}</small>`}</th>`;
}

function figure({ value, pad, range }: ColumnText, unit: string, bound = ''): Markup {
  return markup`<b>${bound}${value}${pad}</b><span class="unit">${unit}</span><small>${range}</small>`;
}

function intervalOf({ range }: ColumnText, unit: string): string {
  return range === '' ? 'the baseline of the comparison' : `95 % interval ${range}${unit}`;
}

function facts({ machine, load, precision, startedAt }: BenchResult): string {
  return [
    'Whiskers and brackets: 95 % intervals.',
    `Shaded: ± ${percent(precision.cpuBand)} CPU and ± ${percent(precision.rpsBand)} requests, which this run cannot tell from no difference.`,
    'The verdict is that on CPU.',
    `Measured ${startedAt.slice(0, 10)} on ${fixed(machine.cores)} cores (${machine.cpuModel}, ${machine.virtualisation}), ${machine.kernel}, Node ${machine.node.slice(1)};`,
    `${load.generator}, ${fixed(load.connections)} connections, ${machine.pinning};`,
    `${fixed(precision.restarts)} restarts × ${fixed(precision.blocks)} interleaved blocks.`,
  ].join(' ');
}
