import { callsSections } from '../../calls-out/report/calls-section.ts';
import { summaryText } from '../../calls-out/report/call-words.ts';
import {
  detail,
  type Document,
  estimate,
  figure,
  type Maybe,
  name,
  notes,
  plot,
  type Plotted,
  present,
  type Section,
  table,
  words,
} from '../../document/document.ts';
import { code, say, strong, type Text, verdict } from '../../document/text.ts';
import type { Interval } from '../../figures.ts';
import { type ColumnText, fixed, percent, plural, range, seconds } from '../../report/format.ts';
import { markup, type Markup } from '../../report/markup.ts';
import { share } from '../../report/plot.ts';
import { machineFacts, processorText } from '../../report/words.ts';
import { defaultMargin } from '../../stats/verdict.ts';
import { wholeRequest } from '../budget.ts';
import type { BudgetReport, BudgetRow, StairsResult } from '../result.ts';
import { stairsMethod } from './stairs-method.ts';
import { costly, stairFigures, type StairFigures, type StairRow } from './stairs-rows.ts';
import {
  allocatedText,
  collectorText,
  memorySentence,
  stairsResolution,
  waitText,
  whatIfSentence,
} from './stairs-words.ts';

/** Shows what each stage of a request costs: a waterfall, in the order of the request. */
export function stairsDocument(result: StairsResult): Document {
  const { precision, machine, load, app, whole, budget, stages } = result;
  const each = plural(precision.rounds, 'round');
  const restarts = plural(precision.restarts, 'restart');
  const noise = Math.max(Math.abs(whole.control.low), Math.abs(whole.control.high));
  const node = app.node.replace(/^v/, '');
  const connections = plural(load.connections, 'connection');
  return {
    ...result,
    label: 'STAIRS',
    aside: `${plural(stages.length, 'stage')} · ${precision.restarts === 1 ? each : `${restarts} × ${each}`}`,
    about: [
      `${processorText(machine)} · ${machine.kernel} · Node.js ${node}`,
      `${machine.pinning} · ${connections} · slices of ${fixed(precision.guardMs + precision.countedMs)} ms`,
      `${stairsResolution(result)} A/A noise ± ${fixed(noise, 2)} µs`,
    ],
    resolution: stairsResolution(result),
    facts: [
      ...machineFacts(machine),
      ['App', `${app.command.join(' ')}; Node.js ${node}`],
      ['Frameworks', app.frameworks.length === 0 ? 'none seen' : app.frameworks.join(', ')],
      ['Load', `${load.request}, ${connections}, closed loop, ${load.generator}`],
      ['Rounds', `${restarts} × ${each}, in all ${seconds(result.durationSeconds)}`],
      [
        'Slices',
        `${fixed(precision.guardMs + precision.countedMs)} ms, of which the last ${fixed(precision.countedMs)} count`,
      ],
      [
        'A/A noise',
        `whole against itself ${fixed(whole.control.value, 2)} µs ${range(whole.control, 2)}`,
      ],
    ],
    findings: findings(result),
    ...stairsMethod(result),
    sections: [
      stairsSection(result),
      ...callsSections(result.calls),
      budget && budgetSection(budget),
    ],
  };
}

/** Max number of findings on page one: readers skip longer lists. */
const maxFindings = 3;

function findings(result: StairsResult): Document['findings'] {
  const { whole, calls, whatIf } = result;
  const figures = stairFigures(result);
  const trusted = whole.controlVerdict !== 'changed';
  const [top, ...others] = costly(figures);
  const memory = memorySentence(result);
  const named = (reading: StairRow['reading']): string =>
    figures.rows.flatMap((row) => (row.reading === reading ? [row.stage.name] : [])).join(', ');
  const then = others
    .slice(0, maxFindings)
    .map(({ stage, text }) => `${stage.name} ${text.value} µs (${percent(stage.share)})`);
  const finding = (word: string, text: Text | undefined | ''): { word: Text; text: Text } | '' =>
    text === undefined || text === '' ? '' : { word: verdict('base', word), text };
  const free = named('same');
  const open = named('unresolved');
  return [
    top !== undefined &&
      trusted &&
      finding(
        'most expensive',
        say`${strong(top.stage.name)}: ${top.text.value} µs ${top.text.range} of ${fixed(whole.micros.value, 1)} (${percent(top.stage.share)}). Without it the request would cost ${fixed(whole.micros.value - top.stage.micros.value, 1)} µs.`,
      ),
    trusted && then.length > 0 && finding('then', `${then.join(', ')}.`),
    free !== '' && {
      word: verdict('same'),
      text: `No cost, within ±\u00a0${percent(defaultMargin)} of the request: ${free}.`,
    },
    open !== '' && {
      word: verdict('unresolved'),
      text: `${open}: more --seconds would settle it.`,
    },
    finding('waits', calls && summaryText(calls)),
    finding('memory', memory),
    finding('what if', whatIf && whatIfSentence(whatIf)),
  ];
}

/** A stage, the whole request, or a stage of the budget that is gone. */
interface Shown {
  title: string;
  row?: StairRow;
  next?: StairRow | undefined;
  whole?: StairsResult['whole'];
  gone?: BudgetRow;
}

function stairsSection(result: StairsResult): Section {
  const { stages, whole, budget } = result;
  const figures = stairFigures(result);
  const { rows, axis, wholeText } = figures;
  const shown: Shown[] = [
    ...rows.map((row, index) => ({ title: row.stage.name, row, next: rows[index + 1] })),
    { title: wholeRequest, whole },
    ...(budget?.rows ?? [])
      .filter(({ status }) => status === 'missing')
      .map((gone) => ({ title: gone.name, gone })),
  ];
  const memoryOf = ({ row, whole: all }: Shown): Pick<StairsResult['whole'], 'memory'> =>
    row?.stage ?? all ?? {};
  const budgetOf = ({ title, gone }: Shown): BudgetRow | undefined =>
    gone ?? budget?.rows.find((each) => each.name === title);
  const hasWaits = stages.some((stage) => waitText(stage) !== '');
  const hasMemory = whole.memory !== undefined;
  const inMarkdown = { in: ['markdown'] } as const;
  const onPage = { in: ['page'] } as const;
  return {
    id: 'stairs',
    heading: 'Stairs',
    lead: say`One request, ended at the entry of every stage in turn. A stage runs from its entry to the entry of the next; its cost is the CPU between the two. ${verdictsText(result, figures)}`,
    parts: [
      notes([budget && budgetVerdict(budget)], ['markdown']),
      table<Shown>(
        shown,
        [
          name('stage', titleAt(rows), { in: ['terminal'], isCode: true }),
          name('stage', ({ title, whole: all }) => (all ? title : code(title)), {
            in: ['page', 'markdown'],
            width: '19em',
          }),
          words('kind', ({ row }) => row?.stage.kind ?? '', { ...onPage, width: '6.6em' }),
          estimate('µs', ({ row, whole: all }) => (all ? wholeText : row?.text)),
          figure('%', ({ row }) => (row ? fixed(row.stage.share * 100) : '')),
          ...(hasWaits
            ? [
                figure('ms wait', ({ row }: Shown) => (row ? waitText(row.stage) : ''), {
                  in: ['terminal', 'markdown'],
                }),
              ]
            : []),
          ...(hasMemory
            ? [
                figure('kB', (each: Shown) => allocatedText(memoryOf(each)), { isOptional: true }),
                figure('gc %', (each: Shown) => collectorText(memoryOf(each)), {
                  isOptional: true,
                }),
              ]
            : []),
          plot('CPU µs into the request', axis, (each) => plotOf(each, figures), { bars: true }),
          figure(
            'rps end',
            ({ row, whole: all }) => rpsText(row?.stage.rpsIfItEnded.value ?? all?.rps.value),
            { in: ['terminal', 'page'], isOptional: true },
          ),
          words('verdict', ({ row, whole: all }) =>
            all ? verdict('base', 'measured') : row && verdict(row.mark, row.reading),
          ),
          ...(budget
            ? [
                figure(
                  `of budget, ${unitText(budget.unit)}`,
                  (each: Shown) => usedText(budgetOf(each)),
                  inMarkdown,
                ),
                words('budget', (each: Shown) => statusText(budgetOf(each)), inMarkdown),
              ]
            : []),
          detail('place', ({ row }) => code(row?.stage.place ?? ''), { in: ['page', 'markdown'] }),
          detail('further', ({ row }) => furtherText(row), onPage),
        ],
        {
          className: ({ row }) => (row === undefined ? 'whole' : 'stage'),
          rowIn: ({ gone }) => (gone === undefined ? undefined : ['markdown']),
        },
      ),
      notes(remarks(result, figures)),
      notes(
        [
          `All threads of the server together use ${fixed(whole.processMicros, figures.decimals)} µs a request; the stages are those of its main thread.`,
        ],
        ['page'],
      ),
    ],
  };
}

/** Draws a bar from where the last stage ended, and the lines that join it to its neighbours. */
function plotOf(
  { row, next, whole }: Shown,
  { axis, wholeText }: StairFigures,
): Plotted | undefined {
  if (whole !== undefined) {
    return {
      title: `Whole request, measured without any cut: ${wholeText.value} µs CPU`,
      text: `95 % interval ${wholeText.range} µs`,
      estimate: { ...whole.micros, reading: 'base' },
    };
  }
  if (row === undefined) return undefined;
  const { stage, from, to, text, reading, mark } = row;
  const { value, low, high } = stage.micros;
  const joint = (at: number, y1: string, y2: string): Markup => {
    const x = share(axis.at(at));
    return markup`<line class="joint" x1="${x}" x2="${x}" y1="${y1}" y2="${y2}"/>`;
  };
  return {
    title: `${stage.name}: ${text.value} µs CPU, ${reading}`,
    text: `95 % interval ${text.range} µs, ${percent(stage.share)} of the request${value < 0 ? '; the estimate is negative' : ''}`,
    estimate: {
      value: to,
      low: from + low,
      high: from + high,
      reading: mark === 'base' ? 'withheld' : mark,
    },
    from,
    marks: [
      ...(from === 0 ? [] : [joint(from, '-22', '0')]),
      ...(next === undefined ? [] : [joint(to, '0', '100%')]),
    ],
  };
}

/** Appends the line number if another stage has the same name. */
function titleAt(rows: readonly StairRow[]): (shown: Shown) => string {
  return ({ title, row }) => {
    const line = /:\d+$/.exec(row?.stage.place ?? '')?.[0] ?? '';
    const isTwice = rows.filter(({ stage }) => stage.name === title).length > 1;
    return isTwice && !title.endsWith(line) ? `${title} ${line}` : title;
  };
}

function furtherText(row: StairRow | undefined): string {
  if (row === undefined) return '';
  const { stage } = row;
  const wait = waitText(stage);
  const calls = stage.calls
    .toSorted((a, b) => b.count - a.count)
    .map((call) => `${call.name} ×${fixed(call.count)}`);
  return present([
    wait !== '' && `waits ${wait} ms`,
    stage.includes.length > 0 && `with ${some(stage.includes, 3)}`,
    calls.length > 0 && `calls ${some(calls, 3)}`,
  ]).join('; ');
}

function verdictsText({ whole }: StairsResult, { bandText }: StairFigures): Text {
  if (whole.controlVerdict === 'changed')
    return 'Verdicts are withheld: the whole request differs from itself.';
  return say`An interval wholly beyond ${bandText} is changed (the stage has a cost), one around 0 and wholly within ±\u00a0${percent(defaultMargin)} of the request is ${verdict('same')} (none), any other is ${verdict('unresolved')}.`;
}

function remarks(result: StairsResult, figures: StairFigures): Maybe<Text>[] {
  const { stages, whole, leftOut, whatIf, budget, sumMicros, unattributedMicros } = result;
  const { decimals, bandText } = figures;
  const [top] = costly(figures);
  const isInside = Math.abs(unattributedMicros) <= (whole.micros.high - whole.micros.low) / 2;
  const place = top && top.stage.place !== '' ? ` (${top.stage.place})` : '';
  const memory = memorySentence(result);
  return [
    `The stages sum to ${fixed(sumMicros, decimals)} µs; ${fixed(unattributedMicros, decimals)} µs is unattributed, ${isInside ? 'inside' : 'outside'} the interval of the whole.`,
    `A stage runs from its entry to the next one's. changed: its cost is beyond ${bandText}${top ? `. ${top.stage.name}${place} is ${percent(top.stage.share)}` : ''}.`,
    stages.some((stage) => waitText(stage) !== '') &&
      'ms wait: how long the event loop was idle before the next stage, one request at a time.',
    memory !== undefined &&
      `kB: allocated per request, counted after all that was timed. gc %: the garbage collector's part of the request's CPU. ${memory}`,
    'rps end: requests per second of one core if the request ended there, derived from its CPU.',
    ...stages
      .filter(({ includes }) => includes.length > 0)
      .map((stage) => `${stage.name} includes ${some(stage.includes, 4)}.`),
    ...leftOut.map((each) => `${each.name} was not cut: ${each.reason}.`),
    whatIf && whatIfSentence(whatIf),
    ...(budget ? budgetLines(budget) : []),
  ];
}

function some(names: readonly string[], count: number): string {
  return names.length > count
    ? `${names.slice(0, count).join(', ')} and ${names.length - count} more`
    : names.join(', ');
}

function rpsText(rps: number | undefined): string {
  return rps === undefined ? '' : fixed(rps);
}

const statusWords: Record<BudgetRow['status'], string> = {
  within: 'within',
  over: 'over',
  unresolved: 'unresolved',
  missing: 'never reached',
  new: 'no budget',
};

const statusMarks = {
  within: 'same',
  over: 'worse',
  unresolved: 'unresolved',
  missing: 'worse',
  new: 'base',
} as const;

function statusText(row: BudgetRow | undefined): Text {
  return row === undefined ? '' : verdict(statusMarks[row.status], statusWords[row.status]);
}

function usedText(row: BudgetRow | undefined): string {
  if (row?.limit === undefined) return '';
  return `${row.measured ? fixed(row.measured.value, 2) : '–'} / ${fixed(row.limit, 2)}`;
}

function budgetVerdict({ failed }: BudgetReport): Text {
  return failed ? strong('A stage is over its budget.') : 'Every stage keeps its budget.';
}

function budgetLines({ rows, file, unit }: BudgetReport): string[] {
  const over = rows.filter(({ status }) => status === 'over' || status === 'missing');
  if (over.length === 0) return [`Every stage keeps its budget (${file}).`];
  return over.map((row) =>
    row.status === 'missing'
      ? `Budget: "${row.name}" is not among the stages of this request; remove it from ${file}, or find out why.`
      : `Over budget: ${row.name} costs ${fixed(row.measured!.value, 2)} ${range(row.measured!, 2)} ${unitText(unit)}; the limit is ${fixed(row.limit!, 2)}.`,
  );
}

/** Shows the limit of each stage, and whether the stage keeps it. */
function budgetSection({ file, unit, rows }: BudgetReport): Section {
  const explained =
    unit === 'µs'
      ? ''
      : ' One floor is the cost of HTTP and an empty response on this machine, so that figures can be compared across machines.';
  return {
    id: 'budget',
    heading: 'Budget',
    lead: `${file}. A stage is over when its whole interval lies above the limit, unresolved when the interval contains the limit.${explained}`,
    parts: [
      table<BudgetRow>(
        rows,
        [
          name('stage', (row) => row.name),
          estimate('measured', ({ measured }) => measured && textOf(measured), {
            unit: unitText(unit),
          }),
          figure('allowed', ({ limit }) => (limit === undefined ? '–' : fixed(limit, 2)), {
            unit: unitText(unit),
          }),
          words('verdict', statusText),
        ],
        { in: ['page'] },
      ),
    ],
  };
}

function textOf(measured: Interval): ColumnText {
  return { value: fixed(measured.value, 2), pad: '', range: range(measured, 2) };
}

function unitText(unit: BudgetReport['unit']): string {
  return unit === 'µs' ? 'µs' : 'floors';
}
