import type { BenchResult } from '../result.ts';
import { type Figures, p99Of } from './figures.ts';
import { fixed, percent, plural, range, signed } from '../../report/format.ts';
import { ladderStyle } from './ladder-style.ts';
import { markup, type Markup } from '../../report/markup.ts';
import { axisHeader, bar, dot, plotCell, whisker } from '../../report/plot.ts';
import { spokenWord } from '../../report/reading.ts';
import { trustOf } from './trust.ts';
import { hasWidth, isMeasuredRow, type MeasuredRow, type SkippedRow } from './rows.ts';
import type { Section } from '../../report/section.ts';
import { marginOf } from './words.ts';
import { padded, restartsHint, title, verdictWord } from '../../report/words.ts';

export function ladderSection(result: BenchResult, figures: Figures): Section {
  return {
    id: 'ladder',
    heading: result.command === 'ladder' ? 'Ladder' : 'Variants',
    body: markup`${lead(result)}${table(result, figures)}`,
    css: ladderStyle(figures),
  };
}

function lead(result: BenchResult): Markup {
  const { cpuBand, rpsBand } = result.precision;
  const count = result.variants.length;
  const beside = result.variants.filter((variant) => variant.beside).length;
  const subject =
    result.command === 'ladder'
      ? `${plural(count - beside, 'rung')}${beside > 0 ? ` and ${beside} beside the ladder` : ''}, each measured against the first.`
      : `${plural(count, 'variant')}, each measured against the first.`;
  const band =
    percent(cpuBand) === percent(rpsBand)
      ? `the ±\u00a0${percent(cpuBand)}`
      : `the ±\u00a0${percent(rpsBand)} in requests and ±\u00a0${percent(cpuBand)} in CPU`;
  if (!trustOf(result).cpu) {
    return markup`<p class="lead">${subject} Shaded: ${band} that would count as no difference. Verdicts are withheld because of the A/A control.</p>`;
  }
  return markup`<p class="lead">${subject} Shaded: ${band} that this run cannot tell from no difference. An estimate outside it whose 95 % interval excludes the base is ${verdictWord('better')} for the better or ${verdictWord('worse')} for the worse, an interval around 1 and wholly within ±\u00a0${percent(marginOf(result))} is ${verdictWord('same')}, any other is ${verdictWord('unresolved')}. CPU is the verdict that counts. A mark at p99 means that its interval does not overlap the base’s.</p>`;
}

function table(result: BenchResult, figures: Figures): Markup {
  const main = figures.hasMainThread;
  const rows = figures.rows.map((row) =>
    isMeasuredRow(row) ? measured(row, figures) : skipped(row, main ? 11 : 10),
  );
  return markup`<table class="t" role="table"><colgroup><col class="w-name"><col><col class="w-rps"><col class="w-abs"><col class="w-verdict"><col><col class="w-cpu"><col class="w-verdict">${main && markup`<col class="w-main">`}<col class="w-p50"><col class="w-p99"><col class="w-rss"></colgroup>
<thead role="rowgroup"><tr role="row"><th role="columnheader" class="name">${result.command === 'ladder' ? 'Rung' : 'Variant'}</th><th role="columnheader" class="plot">requests/s, × base (log)${axisHeader(figures.rpsAxis)}</th><th role="columnheader" class="n">× base<small>interval</small></th><th role="columnheader" class="n">rps</th><th role="columnheader">Verdict</th><th role="columnheader" class="plot">CPU µs per request${axisHeader(figures.cpuAxis)}</th><th role="columnheader" class="n">µs<small>interval</small></th><th role="columnheader">Verdict</th>${main && markup`<th role="columnheader" class="n">main<small>µs</small></th>`}<th role="columnheader" class="n">p50<small>ms</small></th><th role="columnheader" class="n">p99<small>ms</small></th><th role="columnheader" class="n">RSS<small>MiB</small></th></tr></thead>
<tbody role="rowgroup" data-rove>${rows}</tbody></table>`;
}

function measured(row: MeasuredRow, figures: Figures): Markup {
  const { variant, rps, cpu } = row;
  const rpsText = figures.rps.get(row);
  const cpuText = figures.cpu.get(row);
  const main = variant.mainThreadMicrosPerRequest;
  const latency = (value: number): string => fixed(value, figures.latencyDecimals);
  return markup`<tr role="row" class="${row.role}">${nameCell(row)}<td role="cell" class="plot rps-plot">${rpsPlot(row, figures)}</td><td role="cell" class="n rps-est"><b>${padded(rpsText)}</b>${small(rpsText?.range)}</td><td role="cell" class="n rps-abs">${requestsText(row)}<span class="unit"> requests/s</span>${row.rpsIsLowerBound && small(`${percent(variant.serverBusy)} busy`)}</td><td role="cell" class="rps-verdict">${verdictWord(rps.reading)}${small(restartsHint(rps))}</td><td role="cell" class="plot cpu-plot">${cpuPlot(row, figures)}</td><td role="cell" class="n cpu-est"><b>${padded(cpuText)}</b>${small(cpuText?.range)}</td><td role="cell" class="cpu-verdict">${verdictWord(cpu.reading)}${small(restartsHint(cpu) ?? difference(row, figures))}</td>${figures.hasMainThread && markup`<td role="cell" class="n main">${main === undefined ? '–' : fixed(main, figures.cpuDecimals)}<span class="unit"> µs on main thread</span></td>`}<td role="cell" class="n p50">${latency(variant.latencyMs.p50)}</td><td role="cell" class="n p99">${row.p99 && markup`<i class="v ${row.p99}" role="img" aria-label="${row.p99}"></i>`}${latency(variant.latencyMs.p99)}<small>${hasWidth(variant.latencyMs) ? range(p99Of(row), figures.latencyDecimals) : 'no interval'}</small></td><td role="cell" class="n rss">${fixed(variant.rssMiB)}</td></tr>
`;
}

function skipped(row: SkippedRow, columns: number): Markup {
  return markup`<tr role="row" class="${row.role}">${nameCell(row)}<td role="cell" class="skipped" colspan="${columns}"><span class="v skip">skipped:</span> ${row.skipped}</td></tr>
`;
}

function nameCell({ role, name, note: own }: MeasuredRow | SkippedRow): Markup {
  const note = role === 'beside' ? ['beside the ladder', own].filter(Boolean).join(', ') : own;
  return markup`<th role="rowheader" scope="row" class="name">${name}${small(note)}</th>`;
}

function rpsPlot(row: MeasuredRow, { rpsAxis, rps }: Figures): Markup {
  const text = rps.get(row);
  const interval = text?.range ? `95 % interval ${text.range}; ` : '';
  const reading =
    row.role === 'base' ? 'base' : `${text?.value} × base, ${spokenWord(row.rps.reading)}`;
  return plotCell(
    `${title(row.name, row.note)}: ${reading}`,
    `${interval}${requestsText(row)} requests per second`,
    markup`${whisker(rpsAxis, row.rps)}${dot(rpsAxis, row.rps)}`,
  );
}

function cpuPlot(row: MeasuredRow, { cpuAxis, cpu }: Figures): Markup {
  const text = cpu.get(row);
  return plotCell(
    `${title(row.name, row.note)}: ${text?.value} µs CPU per request, ${spokenWord(row.cpu.reading)}`,
    text?.range ? `95 % interval ${text.range} µs` : 'the baseline of the comparison',
    markup`${bar(cpuAxis, 0, row.cpu)}${whisker(cpuAxis, row.cpu)}`,
  );
}

function requestsText({ variant, rpsIsLowerBound }: MeasuredRow): string {
  return `${rpsIsLowerBound ? '≥\u00a0' : ''}${fixed(variant.rps)}`;
}

function difference(row: MeasuredRow, { baseMicros, cpuDecimals }: Figures): string | undefined {
  if (baseMicros === undefined || row.role === 'base') return undefined;
  return `${signed(row.cpu.value - baseMicros, cpuDecimals)} µs`;
}

function small(text: string | undefined): Markup | undefined {
  return text ? markup`<small>${text}</small>` : undefined;
}
