import type { BenchResult } from '../result.ts';
import { type Axis, linearAxis, logAxis } from './axis.ts';
import {
  type ColumnText,
  columnDecimals,
  estimateColumn,
  fixed,
  percent,
  plural,
  range,
  signed,
} from './format.ts';
import { markup, type Markup } from './markup.ts';
import { axisHeader, bar, dot, plotBackground, plotCell, whisker } from './plot.ts';
import { bandEdges, type Estimate, trustOf } from './reading.ts';
import {
  baseOf,
  isMeasuredRow,
  type MeasuredRow,
  type Row,
  rowsOf,
  type SkippedRow,
} from './rows.ts';
import { blocksHint, title, verdictWord } from './words.ts';
import type { Section } from './section.ts';
import { ladderStyle } from './ladder-style.ts';

/** Everything a row needs that depends on its neighbours: axes, and numbers of one precision. */
interface Columns {
  rpsAxis: Axis;
  cpuAxis: Axis;
  rps: Map<MeasuredRow, ColumnText>;
  cpu: Map<MeasuredRow, ColumnText>;
  cpuDecimals: number;
  latencyDecimals: number;
  baseMicros?: number;
  mainThread: boolean;
}

export function ladderSection(result: BenchResult): Section {
  const rows = rowsOf(result);
  const columns = columnsOf(result, rows.filter(isMeasuredRow));
  const isLadder = result.command === 'ladder';
  return {
    id: 'ladder',
    heading: isLadder ? 'Ladder' : 'Variants',
    body: markup`${lead(result)}${table(result, rows, columns)}`,
    css: ladderStyle + backgrounds(result, columns),
  };
}

/** Estimates and settled intervals set the axis; an unresolved whisker may be cut, its number stays whole. */
export function axisValues(estimates: readonly Estimate[]): number[] {
  return estimates.flatMap(({ value, low, high, reading }) =>
    reading === 'unresolved' ? [value] : [value, low, high],
  );
}

function columnsOf(result: BenchResult, rows: readonly MeasuredRow[]): Columns {
  const rpsTexts = estimateColumn(
    rows.map((row) => row.rps),
    2,
  );
  const cpuTexts = estimateColumn(
    rows.map((row) => row.cpu),
    1,
  );
  const rpsBand = bandEdges(result.precision.rpsBand);
  const base = baseOf(result);
  const latencies = rows.map(({ variant: { latencyMs } }) => ({
    value: latencyMs.p99,
    low: latencyMs.p99Low,
    high: latencyMs.p99High,
  }));
  return {
    rpsAxis: logAxis([...axisValues(rows.map((row) => row.rps)), rpsBand.low, rpsBand.high]),
    cpuAxis: linearAxis(axisValues(rows.map((row) => row.cpu))),
    rps: new Map(rows.map((row, index) => [row, rpsTexts[index] as ColumnText])),
    cpu: new Map(rows.map((row, index) => [row, cpuTexts[index] as ColumnText])),
    cpuDecimals: columnDecimals(
      rows.map((row) => row.cpu),
      1,
    ),
    latencyDecimals: columnDecimals(latencies, 1),
    baseMicros: base?.cpuMicrosPerRequest,
    mainThread: rows.some((row) => row.variant.mainThreadMicrosPerRequest !== undefined),
  };
}

function backgrounds(result: BenchResult, { rpsAxis, cpuAxis, baseMicros }: Columns): string {
  const cpuBand = bandEdges(result.precision.cpuBand);
  const band =
    baseMicros === undefined
      ? undefined
      : { low: baseMicros / cpuBand.high, high: baseMicros / cpuBand.low };
  return `:root{--rps-plot:${plotBackground(rpsAxis, 1, bandEdges(result.precision.rpsBand))};--cpu-plot:${plotBackground(cpuAxis, baseMicros, band)}}`;
}

function lead(result: BenchResult): Markup {
  const { cpuBand, rpsBand } = result.precision;
  const subject =
    result.command === 'ladder'
      ? `${plural(result.variants.length, 'rung')} of one server, each measured against the first.`
      : `${plural(result.variants.length, 'variant')}, each measured against the first.`;
  const band =
    percent(cpuBand) === percent(rpsBand)
      ? `the ±\u00a0${percent(cpuBand)}`
      : `the ±\u00a0${percent(rpsBand)} in requests and ±\u00a0${percent(cpuBand)} in CPU`;
  if (!trustOf(result).cpu) {
    return markup`<p class="lead">${subject} Shaded: ${band} that would count as no difference. Verdicts are withheld: the A/A control differs from the base, so the method would call differences where there are none.</p>`;
  }
  return markup`<p class="lead">${subject} Shaded: ${band} that counts as no difference. An interval wholly outside it is ${verdictWord('better')} for the better or ${verdictWord('worse')} for the worse, wholly inside is ${verdictWord('same')}, across an edge is ${verdictWord('unresolved')}. CPU is the verdict of record. A mark at p99: its interval does not touch the base’s.</p>`;
}

function table(result: BenchResult, rows: readonly Row[], columns: Columns): Markup {
  const lines = rows.map((row) =>
    isMeasuredRow(row) ? measured(row, columns) : skipped(row, columns.mainThread ? 11 : 10),
  );
  const main = columns.mainThread;
  return markup`<table class="t lad" role="table"><colgroup><col class="w-name"><col><col class="w-est"><col class="w-abs"><col class="w-verdict"><col><col class="w-est"><col class="w-verdict">${main && markup`<col class="w-main">`}<col class="w-p50"><col class="w-p99"><col class="w-rss"></colgroup>
<thead role="rowgroup"><tr role="row"><th role="columnheader" class="name">${result.command === 'ladder' ? 'Rung' : 'Variant'}</th><th role="columnheader" class="plot rps-plot">requests/s, × base (log)${axisHeader(columns.rpsAxis)}</th><th role="columnheader" class="n">× base<small>95 % interval</small></th><th role="columnheader" class="n">requests<small>per second</small></th><th role="columnheader">Verdict</th><th role="columnheader" class="plot cpu-plot">CPU µs per request${axisHeader(columns.cpuAxis)}</th><th role="columnheader" class="n">µs<small>95 % interval</small></th><th role="columnheader">Verdict</th>${main && markup`<th role="columnheader" class="n">main<small>thread µs</small></th>`}<th role="columnheader" class="n">p50<small>ms</small></th><th role="columnheader" class="n">p99<small>ms</small></th><th role="columnheader" class="n">RSS<small>MiB</small></th></tr></thead>
<tbody role="rowgroup" data-rove>${lines}</tbody></table>`;
}

function measured(row: MeasuredRow, columns: Columns): Markup {
  const { variant, rps, cpu } = row;
  const rpsText = columns.rps.get(row) as ColumnText;
  const cpuText = columns.cpu.get(row) as ColumnText;
  const requests = `${row.rpsIsLowerBound ? '≥\u00a0' : ''}${fixed(variant.rps)}`;
  const { p50, p99, p99Low, p99High } = variant.latencyMs;
  const latency = (value: number): string => fixed(value, columns.latencyDecimals);
  const main = variant.mainThreadMicrosPerRequest;
  return markup`<tr role="row" class="${row.role}"><th role="rowheader" scope="row" class="name">${row.name}${row.note && markup`<small>${row.note}</small>`}</th><td role="cell" class="plot rps-plot">${rpsPlot(row, columns.rpsAxis, rpsText, requests)}</td><td role="cell" class="n rps-est"><b>${rpsText.value}</b>${small(rpsText.range)}</td><td role="cell" class="n rps-abs">${requests}${row.rpsIsLowerBound && markup`<small>${percent(variant.serverBusy)} busy</small>`}</td><td role="cell" class="rps-verdict">${verdictWord(rps.reading)}${hint(rps)}</td><td role="cell" class="plot cpu-plot">${cpuPlot(row, columns.cpuAxis, cpuText)}</td><td role="cell" class="n cpu-est"><b>${cpuText.value}</b>${small(cpuText.range)}</td><td role="cell" class="cpu-verdict">${verdictWord(cpu.reading)}${hint(cpu) ?? difference(row, columns)}</td>${columns.mainThread && markup`<td role="cell" class="n main">${main === undefined ? '–' : fixed(main, columns.cpuDecimals)}</td>`}<td role="cell" class="n p50">${latency(p50)}</td><td role="cell" class="n p99">${row.p99 && markup`<i class="v ${row.p99}" role="img" aria-label="${row.p99}"></i>`}${latency(p99)}<small>${range({ low: p99Low, high: p99High }, columns.latencyDecimals)}</small></td><td role="cell" class="n rss">${fixed(variant.rssMiB)}</td></tr>
`;
}

function skipped(row: SkippedRow, columns: number): Markup {
  return markup`<tr role="row" class="${row.role}"><th role="rowheader" scope="row" class="name">${row.name}${row.note && markup`<small>${row.note}</small>`}</th><td role="cell" class="skipped" colspan="${columns}"><span class="v skip">skipped</span> ${row.skipped}</td></tr>
`;
}

function rpsPlot(row: MeasuredRow, axis: Axis, text: ColumnText, requests: string): Markup {
  const reading =
    row.rps.reading === 'base' ? 'base' : `${text.value.trim()} × base, ${wordOf(row.rps)}`;
  const interval = text.range && `95 % interval ${text.range}; `;
  return plotCell(
    `${title(row.name, row.note)}: ${reading}`,
    `${interval}${requests} requests per second`,
    markup`${whisker(axis, row.rps)}${dot(axis, row.rps)}`,
  );
}

function cpuPlot(row: MeasuredRow, axis: Axis, text: ColumnText): Markup {
  return plotCell(
    `${title(row.name, row.note)}: ${text.value.trim()} µs CPU per request, ${wordOf(row.cpu)}`,
    text.range === '' ? 'what the others are compared with' : `95 % interval ${text.range} µs`,
    markup`${bar(axis, 0, row.cpu)}${whisker(axis, row.cpu)}`,
  );
}

function wordOf(estimate: Estimate): string {
  switch (estimate.reading) {
    case 'better':
    case 'worse':
      return `changed for the ${estimate.reading}`;
    default:
      return estimate.reading;
  }
}

function difference(row: MeasuredRow, { baseMicros, cpuDecimals }: Columns): Markup | undefined {
  if (baseMicros === undefined || row.role === 'base') return undefined;
  return markup`<small>${signed(row.cpu.value - baseMicros, cpuDecimals)} µs</small>`;
}

function hint(estimate: Estimate): Markup | undefined {
  const text = blocksHint(estimate);
  return text === undefined ? undefined : markup`<small>${text}</small>`;
}

function small(text: string): Markup | undefined {
  return text === '' ? undefined : markup`<small>${text}</small>`;
}
