import { figuresOf } from '../../bench/report/figures.ts';
import { ladderSection } from '../../bench/report/ladder.ts';
import { benchMethod } from '../../bench/report/method.ts';
import { noiseOf } from '../../bench/report/rows.ts';
import {
  type Document,
  estimate,
  figure,
  isIn,
  name,
  notes,
  type Section,
  table,
  words,
} from '../../document/document.ts';
import { renderTerminal } from '../../document/terminal.ts';
import { strong, verdict } from '../../document/text.ts';
import type { Interval } from '../../figures.ts';
import { nodeCommandOf } from '../../project/node-command.ts';
import {
  type ColumnText,
  columnDecimals,
  fixed,
  plural,
  range,
  seconds,
} from '../../report/format.ts';
import type { Reading } from '../../report/reading.ts';
import type { TerminalOptions } from '../../report/terminal-options.ts';
import { noiseText, processorText } from '../../report/words.ts';
import { unchanged, withRedline } from '../app.ts';
import type { TryResult } from '../result.ts';
import { sentenceOf, triedOf } from '../verdict.ts';

/** Renders one screen for a terminal. */
export function renderTryTerminal(result: TryResult, options: TerminalOptions): string {
  return renderTerminal(tryDocument(result), options);
}

/** Shows the verdict, then the measurement as `bench` shows it. */
export function tryDocument(result: TryResult): Document {
  const { bench, requestsFrom, word, keep } = result;
  const { load, machine, warnings } = bench;
  const what = packagesText(result);
  const sentence = sentenceOf(result);
  return {
    ...result,
    warnings,
    label: 'TRY',
    aside: seconds(result.durationSeconds),
    about: [whereText(result), requestsFrom, checkedText(result)],
    facts: [
      ['App', whereText(result)],
      ['With redline', `${what}.`],
      ['Load', `${load.generator}, ${load.connections} connections`],
      ['Pinning', machine.pinning],
    ],
    findings: [
      { word, text: sentence },
      requestsFrom !== '' && { word: 'requests', text: requestsFrom },
      { word: 'checked', text: checkedText(result) },
    ],
    sections: [
      comparison(result),
      {
        id: 'keep',
        heading: 'To keep it',
        parts: [
          notes(
            [strong(sentence), word !== 'gains' && `Tried: ${what}.`],
            ['terminal', 'markdown'],
          ),
          ...(word === 'gains'
            ? [{ kind: 'commands' as const, intro: `To keep it (${what})`, lines: keep }]
            : []),
        ],
      },
      onPage(ladderSection(bench, figuresOf(bench))),
    ],
    ...benchMethod(bench),
    next: nextCommand(result),
  };
}

/** The terminal and Markdown have the comparison in its place. */
function onPage(section: Section): Section {
  return { ...section, parts: section.parts.filter((part) => isIn('page', part)) };
}

/** One figure of the app, unchanged and with redline; some have a verdict. */
interface Row {
  what: string;
  before: string;
  after: string;
  gain?: ColumnText;
  reading?: Reading;
}

function comparison({ bench }: TryResult): Section {
  return {
    id: 'compared',
    heading: 'Compared',
    parts: [
      table<Row>(
        rowsOf(bench),
        [
          name('', ({ what }) => what),
          figure(unchanged, ({ before }) => before),
          figure(withRedline, ({ after }) => after),
          estimate('gain', ({ gain }) => gain),
          words('verdict', ({ reading }) => reading && verdict(reading)),
        ],
        { in: ['terminal', 'markdown'] },
      ),
    ],
  };
}

function rowsOf(bench: TryResult['bench']): Row[] {
  const tried = triedOf(bench);
  if (tried === undefined) return [];
  const { before } = tried;
  const { variant: after, rps, cpu, rpsIsLowerBound } = tried.after;
  const p99 = [before.latencyMs, after.latencyMs].map((each): Interval => ({
    value: each.p99,
    low: each.p99Low,
    high: each.p99High,
  }));
  const ms = (value: number): string => fixed(value, columnDecimals(p99, 1));
  const micros = after.cpuMicrosPerRequest < 100 ? 1 : 0;
  return [
    {
      what: 'requests/s',
      before: fixed(before.rps),
      after: `${rpsIsLowerBound ? '≥\u00a0' : ''}${fixed(after.rps)}`,
      gain: ratioOf(after.rpsRatio),
      reading: rps.reading,
    },
    {
      what: 'CPU µs per request',
      before: fixed(before.cpuMicrosPerRequest, micros),
      after: fixed(after.cpuMicrosPerRequest, micros),
      gain: ratioOf(after.cpuRatio),
      reading: cpu.reading,
    },
    { what: 'p99 ms', before: ms(before.latencyMs.p99), after: ms(after.latencyMs.p99) },
    { what: 'RSS MiB', before: fixed(before.rssMiB), after: fixed(after.rssMiB) },
  ];
}

function ratioOf(ratio: Interval): ColumnText {
  const decimals = columnDecimals([ratio], 2);
  return {
    value: `${fixed(ratio.value, decimals)}\u00a0×`,
    pad: '',
    range: range(ratio, decimals),
  };
}

function whereText({ app, bench: { machine } }: TryResult): string {
  return `${app.framework === undefined ? '' : `${app.framework}, `}port ${app.port ?? 'from PORT'} · Node ${app.node} · ${processorText(machine)}`;
}

function checkedText({ bench, compared }: TryResult): string {
  const { precision } = bench;
  // The same figure as the bands that decide the verdicts, not another one from the same control.
  const noise =
    noiseOf(bench) === undefined
      ? 'not measured'
      : noiseText({ cpu: precision.cpuBand, rps: precision.rpsBand });
  return `${compared === 'body' ? 'Both send the same bytes.' : 'Bodies change from one request to the next, so only the status was compared.'} A/A noise ${noise} in ${plural(precision.restarts, 'restart')}.`;
}

function packagesText({ packages }: TryResult): string {
  const names = packages.map((each) => `${each.name} ${each.version}`).join(' and ');
  return `${names}, imported before the app`;
}

/** Placeholder: the app uses the port in a command's URL. */
const anyPort = 3000;

/** Suggests the next command for the same requests; doctor takes any command, stairs only one of node. */
function nextCommand({ app, bench }: TryResult): string {
  const [first = 'GET /'] = bench.load.requests;
  const path = /^GET (\/\S*)$/.exec(first)?.[1];
  const node =
    app.nodeCommand ?? nodeCommandOf({ command: app.command.split(' '), env: {} }, undefined);
  if (node === undefined || path === undefined) return `redline doctor -- ${app.command}`;
  const url = `http://127.0.0.1:${app.port ?? anyPort}${path}`;
  return `redline stairs ${/[&?]/.test(url) ? `'${url}'` : url} -- ${node}`;
}
