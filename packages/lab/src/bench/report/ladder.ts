import {
  type Column,
  detail,
  estimate,
  figure,
  type Maybe,
  name,
  plot,
  type Plotted,
  type Section,
  table,
  words,
} from '../../document/document.ts';
import { code, say, type Text, verdict } from '../../document/text.ts';
import type { Interval } from '../../figures.ts';
import { clamp, linearAxis } from '../../report/axis.ts';
import { columnWidth, VERDICT_WIDTH } from '../../report/text-width.ts';
import { type ColumnText, fixed, percent, plural, range, signed } from '../../report/format.ts';
import { markup, type Markup } from '../../report/markup.ts';
import { share } from '../../report/plot.ts';
import { type Estimate, spokenWord, WORDS } from '../../report/reading.ts';
import { restartsHint, title, verdictWord } from '../../report/words.ts';
import type { BenchResult } from '../result.ts';
import { axisValues, type Figures, p99Of } from './figures.ts';
import { hasWidth, isMeasuredRow, type MeasuredRow, type Row, type StepRow } from './rows.ts';
import { marginOf, trustOf } from './words.ts';

/** Shows every variant against the base; a terminal has requests and CPU one below the other. */
export function ladderSection(result: BenchResult, figures: Figures): Section {
  const { rows } = figures;
  const skipped = (row: Row): string | undefined => (isMeasuredRow(row) ? undefined : row.skipped);
  const options = { skipped, className: ({ role }: Row) => role };
  return {
    id: 'ladder',
    heading: result.command === 'ladder' ? 'Ladder' : 'Variants',
    lead: lead(result),
    parts: [
      table(rows, requestColumns(figures), { ...options, in: ['terminal'] }),
      table(rows, cpuColumns(figures), { ...options, in: ['terminal'], hasUnitLine: true }),
      table(rows, pageColumns(result, figures), { ...options, in: ['page'] }),
      table(rows, markdownColumns(), { ...options, in: ['markdown'] }),
    ],
  };
}

/** Returns a cell of the measured rows. */
function of<Cell>(cell: (row: MeasuredRow) => Cell): (row: Row) => Cell | undefined {
  return (row) => (isMeasuredRow(row) ? cell(row) : undefined);
}

function requestColumns(figures: Figures): Column<Row>[] {
  return [
    name('requests per second', terminalName),
    words(
      '',
      of(({ rps }) => verdict(rps.reading, '')),
    ),
    plotOfRequests(figures),
    estimate('× base', (row) => figures.rps.get(row)),
    figure('rps', of(requestsText)),
  ];
}

function cpuColumns(figures: Figures): Column<Row>[] {
  const latency = (value: number): string => fixed(value, figures.latencyDecimals);
  return [
    name('CPU per request', terminalName),
    estimate('µs', (row) => figures.cpu.get(row)),
    words(
      'verdict',
      of(({ cpu }) => verdict(cpu.reading)),
    ),
    figure(
      'p50',
      of(({ variant }) => latency(variant.latencyMs.p50)),
      { unit: 'ms' },
    ),
    figure(
      'p99',
      of(({ variant }) => latency(variant.latencyMs.p99)),
      { unit: 'ms' },
    ),
    words(
      '',
      of(({ p99 }) => verdict(p99 ?? 'base', '')),
      { isTight: true },
    ),
    figure(
      'RSS',
      of(({ variant }) => fixed(variant.rssMiB)),
      { unit: 'MiB' },
    ),
  ];
}

function pageColumns({ command }: BenchResult, figures: Figures): Column<Row>[] {
  const latency = (value: number): string => fixed(value, figures.latencyDecimals);
  const main = of(({ variant: { mainThreadMicrosPerRequest: micros } }) =>
    micros === undefined ? '–' : fixed(micros, figures.cpuDecimals),
  );
  const p99Range = (row: MeasuredRow): string =>
    hasWidth(row.variant.latencyMs) ? range(p99Of(row), figures.latencyDecimals) : 'no interval';
  const ranges = figures.measured.map(p99Range);
  return [
    name(command === 'ladder' ? 'Rung' : 'Variant', (row) => row.name, { width: '12.4em' }),
    detail('note', ({ role, note }) =>
      [role === 'beside' && 'beside the ladder', note].filter(Boolean).join(', '),
    ),
    plotOfRequests(figures),
    estimate('× base', (row) => figures.rps.get(row)),
    figure(
      'rps',
      of((row) =>
        noted(requestsText(row), row.rpsIsLowerBound && `${percent(row.variant.serverBusy)} busy`),
      ),
      { width: widthOf([...figures.measured.map(requestsText), '82 % busy']) },
    ),
    words(
      'requests',
      of(({ rps }) => noted(verdictWord(rps.reading), restartsHint(rps))),
      {
        width: VERDICT_WIDTH,
      },
    ),
    plotOfCpu(figures),
    estimate('µs', (row) => figures.cpu.get(row)),
    words(
      'CPU',
      of((row) =>
        noted(verdictWord(row.cpu.reading), restartsHint(row.cpu) ?? difference(row, figures)),
      ),
      { width: VERDICT_WIDTH },
    ),
    ...(figures.hasMainThread ? [figure('main', main, { unit: 'µs' })] : []),
    figure(
      'p50',
      of(({ variant }) => latency(variant.latencyMs.p50)),
      { unit: 'ms' },
    ),
    figure(
      'p99',
      of((row) => {
        const mark =
          row.p99 && markup`<i class="v ${row.p99}" role="img" aria-label="${row.p99}"></i>`;
        return noted(markup`${mark}${latency(row.variant.latencyMs.p99)}`, p99Range(row));
      }),
      { unit: 'ms', width: widthOf(['p99 ms', ...ranges]) },
    ),
    figure(
      'RSS',
      of(({ variant }) => fixed(variant.rssMiB)),
      { unit: 'MiB' },
    ),
  ];
}

function markdownColumns(): Column<Row>[] {
  const ratio = (interval: Interval, { role }: Row): ColumnText =>
    role === 'base'
      ? { value: '1', pad: '', range: '' }
      : { value: fixed(interval.value, 3), pad: '', range: range(interval, 3) };
  return [
    name('', (row) => code(row.name)),
    figure(
      'CPU µs',
      of(({ variant }) => fixed(variant.cpuMicrosPerRequest, 1)),
    ),
    estimate(
      '× less CPU',
      of((row) => ratio(row.variant.cpuRatio, row)),
    ),
    figure(
      'requests/s',
      of(({ variant }) => fixed(variant.rps)),
    ),
    estimate(
      '× requests/s',
      of((row) => ratio(row.variant.rpsRatio, row)),
    ),
    words('verdict', of(verdictOfBoth)),
  ];
}

function verdictOfBoth({ cpu, rps, role }: MeasuredRow): Text {
  return cpu.reading === rps.reading || role === 'base'
    ? verdict(cpu.reading)
    : say`${verdict(cpu.reading)}, requests per second ${WORDS[rps.reading]}`;
}

function widthOf(texts: readonly string[]): string {
  return columnWidth(texts).replace('width:', '');
}

function noted(text: string | Markup, note: Maybe<string>): Markup {
  return markup`${text}${note ? markup`<small>${note}</small>` : undefined}`;
}

/** Marks the A/A control, and indents what is not part of the ladder. */
function terminalName({ role, name: own }: Row): string {
  if (role === 'control') return `${own} (A/A)`;
  return role === 'beside' ? `  ${own}` : own;
}

function requestsText({ variant, rpsIsLowerBound }: MeasuredRow): string {
  return `${rpsIsLowerBound ? '≥\u00a0' : ''}${fixed(variant.rps)}`;
}

function difference(row: MeasuredRow, { baseMicros, cpuDecimals }: Figures): string | undefined {
  if (baseMicros === undefined || row.role === 'base') return undefined;
  return `${signed(row.cpu.value - baseMicros, cpuDecimals)} µs`;
}

function plotOfRequests({ rps, rpsAxis, rpsBand }: Figures): Column<Row> {
  const plotted = (row: MeasuredRow): Plotted => {
    const text = rps.get(row);
    const reading =
      row.role === 'base' ? 'base' : `${text?.value} × base, ${spokenWord(row.rps.reading)}`;
    return {
      title: `${title(row.name, row.note)}: ${reading}`,
      text: `${text?.range ? `95 % interval ${text.range}; ` : ''}${requestsText(row)} requests per second`,
      estimate: row.rps,
    };
  };
  return plot('requests/s, × base (log)', rpsAxis, of(plotted), { band: rpsBand });
}

function plotOfCpu({ cpu, cpuAxis, cpuBand, baseMicros }: Figures): Column<Row> {
  const plotted = (row: MeasuredRow): Plotted => {
    const text = cpu.get(row);
    return {
      title: `${title(row.name, row.note)}: ${text?.value} µs CPU per request, ${spokenWord(row.cpu.reading)}`,
      text: text?.range ? `95 % interval ${text.range} µs` : 'the baseline of the comparison',
      estimate: row.cpu,
    };
  };
  const options = { bars: true, ...(cpuBand && { band: cpuBand }), reference: baseMicros };
  return plot('CPU µs per request', cpuAxis, of(plotted), options);
}

function lead(result: BenchResult): Text {
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
  if (!trustOf(result).cpu)
    return `${subject} Shaded: ${band} that would count as no difference. Verdicts are withheld because of the A/A control.`;
  return say`${subject} Shaded: ${band} that this run cannot tell from no difference. An estimate outside it whose 95 % interval excludes the base is ${verdict('better')} for the better or ${verdict('worse')} for the worse, an interval around 1 and wholly within ±\u00a0${percent(marginOf(result))} is ${verdict('same')}, any other is ${verdict('unresolved')}. CPU is the verdict that counts. A mark at p99 means that its interval does not overlap the base’s.`;
}

/** Shows the gain of each rung over the one below it; undefined if no rung was measured over another. */
export function stepsSection(figures: Figures): Section | undefined {
  const { steps, stepTexts } = figures;
  if (steps.length === 0) return undefined;
  const isApart = steps.some(({ apart }) => apart);
  const against = isApart
    ? 'Each rung against the variant named below it. A bar runs from the CPU of that variant to that of this rung;'
    : 'Each rung against the measured one below it. A bar runs from the CPU of the rung below to that of this one;';
  const heading = isApart ? 'over the one named' : 'over the rung below';
  const nameFor = (step: StepRow): string =>
    `${step.beside ? '  ' : ''}${step.name}${isApart ? ` over ${step.over}` : ''}`;
  const textOf =
    (part: 'saved' | 'cpu' | 'rps') =>
    (step: StepRow): ColumnText | undefined =>
      stepTexts.get(step)?.[part];
  const mark = (part: 'saved' | 'rps'): Column<StepRow> =>
    words('', (step) => verdict(step[part].reading, ''));
  const word = (shown: Estimate, hintOf: Estimate): Markup =>
    noted(verdictWord(shown.reading), restartsHint(hintOf));
  return {
    id: 'steps',
    heading: 'Steps',
    lead: `${against} its whisker is the interval of this step alone. Shaded: what counts as no difference. All ratios are better above 1, all intervals 95 %.`,
    parts: [
      table(
        steps,
        [
          name(heading, nameFor),
          mark('saved'),
          estimate('µs saved', textOf('saved')),
          mark('rps'),
          estimate('× rps', textOf('rps')),
        ],
        { in: ['terminal'] },
      ),
      table(
        steps,
        [
          name('Rung', (step) => step.name, { width: '17em' }),
          detail('over', ({ beside, over }) => `${beside ? 'beside' : 'over'} ${over}`),
          stepPlot(figures),
          estimate('µs saved', textOf('saved')),
          words('CPU', ({ saved, cpu }) => word(saved, cpu), { width: VERDICT_WIDTH }),
          estimate('CPU, ×', textOf('cpu')),
          estimate('rps, ×', textOf('rps')),
          words('requests', ({ rps }) => word(rps, rps), { width: VERDICT_WIDTH }),
        ],
        { in: ['page'], className: ({ beside }) => (beside ? 'beside' : 'rung') },
      ),
    ],
  };
}

/** Draws bars from rung to rung, each with its band of no difference, joined by hairlines. */
function stepPlot({ steps, stepTexts, cpuEdges }: Figures): Column<StepRow> {
  const axis = linearAxis([
    ...steps.map(({ fromMicros }) => fromMicros),
    ...axisValues(steps.map(({ to }) => to)),
  ]);
  const line = (at: number, from: string, to: string): Markup => {
    const x = share(axis.at(at));
    return markup`<line class="joint" x1="${x}" x2="${x}" y1="${from}" y2="${to}"/>`;
  };
  const plotted = (step: StepRow): Plotted => {
    const { name: own, beside, over, fromMicros: from, to, saved } = step;
    const texts = stepTexts.get(step);
    const index = steps.indexOf(step);
    const [previous, next] = [steps[index - 1], steps[index + 1]];
    // On a noisy run the band is wider than the axis.
    const start = clamp(axis.at(from / cpuEdges.high));
    const end = clamp(axis.at(from / cpuEdges.low));
    return {
      title: `${own} ${beside ? 'beside' : 'over'} ${over}: ${texts?.saved.value} µs CPU per request saved, ${spokenWord(saved.reading)}`,
      text: `95 % interval ${texts?.saved.range} µs; CPU ${texts?.cpu.value} × ${texts?.cpu.range}; requests ${texts?.rps.value} × ${texts?.rps.range}`,
      estimate: to,
      from,
      // The line to the bar of the next row is as long as this row is high, moved down by half a row of one line. The band of the
      // next row covers it, so its upper half is drawn again there.
      marks: [
        markup`<rect class="band" x="${share(start)}" width="${share(end - start)}"/>`,
        ...(previous === undefined || beside || over !== previous.name
          ? []
          : [line(from, '-22', '0')]),
        ...(next === undefined || next.beside || next.over !== own
          ? []
          : [line(to.value, '0', '100%')]),
      ],
    };
  };
  return plot('CPU µs per request, from rung to rung', axis, plotted, { bars: true });
}
