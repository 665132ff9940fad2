import type { StairsResult } from '../result.ts';
import { columnWidth, VERDICT_WIDTH } from '../../report/column-width.ts';
import { fixed, percent } from '../../report/format.ts';
import { markup, type Markup } from '../../report/markup.ts';
import { axisHeader, bar, plotBackground, plotCell, share, whisker } from '../../report/plot.ts';
import type { Section } from '../../report/section.ts';
import {
  type StairFigures,
  type StairReading,
  type StairRow,
  unattributed,
} from './stairs-rows.ts';
import { allocatedText, collectorText, waitText } from './stairs-words.ts';
import { STACK, stackedTable } from '../../report/style.ts';
import { verdictWord } from '../../report/words.ts';
import { defaultMargin } from '../../stats/verdict.ts';

/** Style of a stage's verdict: a cost is neither better nor worse. */
const readings = {
  changed: 'base',
  same: 'same',
  unresolved: 'unresolved',
  withheld: 'withheld',
} as const;

/** Returns the section with the waterfall: stages in the order of the request, each bar where the last one ended. */
export function stairsSection(result: StairsResult, figures: StairFigures): Section {
  return {
    id: 'stairs',
    heading: 'Stairs',
    body: markup`${lead(result, figures)}${table(result, figures)}${notes(result, figures)}`,
    css: style(result, figures),
  };
}

function lead({ whole }: StairsResult, { bandText }: StairFigures): Markup {
  const verdicts =
    whole.controlVerdict !== 'changed'
      ? markup`An interval wholly beyond ${bandText} is changed (the stage has a cost), one around 0 and wholly within ±\u00a0${percent(defaultMargin)} of the request is ${verdictWord('same')} (none), any other is ${verdictWord('unresolved')}.`
      : markup`Verdicts are withheld: the whole request differs from itself.`;
  return markup`<p class="lead">One request, ended at the entry of every stage in turn. A stage runs from its entry to the entry of the next; its cost is the CPU between the two. ${verdicts}</p>`;
}

function table(result: StairsResult, figures: StairFigures): Markup {
  const hasMemory = result.whole.memory !== undefined;
  const rows = figures.rows.map((row, index) => stair(row, figures, figures.rows[index + 1]));
  return markup`<table class="t" role="table"><colgroup><col class="w-name"><col class="w-kind"><col><col class="w-micros"><col class="w-range"><col class="w-share"><col class="w-rps">${hasMemory && markup`<col class="w-kb"><col class="w-gc">`}<col class="w-verdict"></colgroup>
<thead role="rowgroup"><tr role="row"><th role="columnheader" class="name">Stage</th><th role="columnheader">Kind</th><th role="columnheader" class="plot">CPU µs into the request${axisHeader(figures.axis)}</th><th role="columnheader" class="n">µs</th><th role="columnheader" class="n">95 % interval</th><th role="columnheader" class="n">Share</th><th role="columnheader" class="n">rps if it ended</th>${hasMemory && markup`<th role="columnheader" class="n">kB</th><th role="columnheader" class="n">gc %</th>`}<th role="columnheader">Verdict</th></tr></thead>
<tbody role="rowgroup" data-rove>${rows}${wholeRow(result, figures)}</tbody></table>`;
}

function stair(row: StairRow, figures: StairFigures, next: StairRow | undefined): Markup {
  const { stage, fromMicros, toMicros, micros, range } = row;
  const { axis } = figures;
  const { value, low, high } = stage.micros;
  const reading = readings[row.reading];
  const plotted = {
    value: toMicros,
    low: fromMicros + low,
    high: fromMicros + high,
    reading: row.reading === 'changed' ? ('withheld' as const) : reading,
  };
  const end = share(axis.at(toMicros));
  const joints = [
    ...(fromMicros === 0 ? [] : [joint(share(axis.at(fromMicros)), '-22', '0')]),
    ...(next === undefined ? [] : [joint(end, '0', '100%')]),
  ];
  const mark = plotCell(
    `${stage.name}: ${micros} µs CPU, ${row.reading}`,
    `95 % interval ${range} µs, ${percent(stage.share)} of the request${value < 0 ? '; the estimate is negative' : ''}`,
    markup`${joints}${bar(axis, fromMicros, plotted)}${whisker(axis, plotted)}`,
  );
  const detail = [stage.place, waitsText(row), includesText(row), callsText(row)].filter(
    (text) => text !== '',
  );
  return markup`<tr role="row" class="stage"><th role="rowheader" scope="row" class="name">${stage.name}${detail.map((text) => markup`<small>${text}</small>`)}</th><td role="cell" class="kind">${stage.kind}</td><td role="cell" class="plot stair-plot">${mark}</td><td role="cell" class="n micros"><b>${micros}</b><span class="unit"> µs</span></td><td role="cell" class="n range">${range}</td><td role="cell" class="n share">${percent(stage.share)}</td><td role="cell" class="n rps">${fixed(stage.rpsIfItEnded.value)}<span class="unit"> rps if it ended</span></td>${memoryCells(stage)}<td role="cell" class="verdict">${cost(row.reading)}</td></tr>
`;
}

function wholeRow({ whole }: StairsResult, figures: StairFigures): Markup {
  const { micros, range } = figures.whole;
  const estimate = { ...whole.micros, reading: 'base' as const };
  const mark = plotCell(
    `Whole request, measured without any cut: ${micros} µs CPU`,
    `95 % interval ${range} µs`,
    markup`${bar(figures.axis, 0, estimate)}${whisker(figures.axis, estimate)}`,
  );
  return markup`<tr role="row" class="whole"><th role="rowheader" scope="row" class="name">Whole request</th><td role="cell" class="kind"></td><td role="cell" class="plot stair-plot">${mark}</td><td role="cell" class="n micros"><b>${micros}</b><span class="unit"> µs</span></td><td role="cell" class="n range">${range}</td><td role="cell" class="n share"></td><td role="cell" class="n rps">${fixed(whole.rps.value)}<span class="unit"> rps</span></td>${memoryCells(whole)}<td role="cell" class="verdict"><span class="v base">measured</span></td></tr>
`;
}

function memoryCells(of: Pick<StairsResult['whole'], 'memory'>): Markup | undefined {
  if (of.memory === undefined) return undefined;
  const collector = collectorText(of);
  return markup`<td role="cell" class="n kb">${allocatedText(of)}<span class="unit"> kB</span></td><td role="cell" class="n gc">${collector}${collector !== '' && markup`<span class="unit"> % gc</span>`}</td>`;
}

function notes(result: StairsResult, figures: StairFigures): Markup {
  const texts = [
    unattributed(result, figures),
    `All threads of the server together use ${fixed(result.whole.processMicros, figures.decimals)} µs a request; the stages are those of its main thread.`,
    ...(result.whole.memory === undefined
      ? []
      : [
          'kB: allocated per request; gc %: the garbage collector’s part of the request’s CPU. Both were counted after all that was timed.',
        ]),
    ...result.leftOut.map(({ name, reason }) => `${name} was not cut: ${reason}.`),
  ];
  return markup`${texts.map((text) => markup`<p class="lead note">${text}</p>`)}`;
}

function cost(reading: StairReading): Markup {
  return verdictWord(readings[reading], reading);
}

function joint(x: string, from: string, to: string): Markup {
  return markup`<line class="joint" x1="${x}" x2="${x}" y1="${from}" y2="${to}"/>`;
}

function waitsText({ stage }: StairRow): string {
  const text = waitText(stage);
  return text === '' ? '' : `waits ${text} ms`;
}

function includesText({ stage: { includes } }: StairRow): string {
  return includes.length === 0 ? '' : `with ${listed(includes)}`;
}

function callsText({ stage: { calls } }: StairRow): string {
  const often = calls
    .toSorted((a, b) => b.count - a.count)
    .map(({ name, count }) => `${name} ×${fixed(count)}`);
  return often.length === 0 ? '' : `calls ${listed(often)}`;
}

function listed(names: readonly string[]): string {
  return names.length > 3
    ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`
    : names.join(', ');
}

function style({ stages, whole }: StairsResult, { rows, axis, whole: text }: StairFigures): string {
  const micros = [...rows.map((row) => row.micros), text.micros];
  const ranges = [...rows.map((row) => row.range), text.range];
  const rps = [...stages.map((stage) => fixed(stage.rpsIfItEnded.value)), fixed(whole.rps.value)];
  const memories = [...stages, whole];
  return `#stairs .stair-plot{background:${plotBackground(axis)}}.m>.joint{stroke:var(--bar);stroke-width:1;marker:none}
#stairs .m>rect:is(.withheld){fill:var(--bar)}#stairs .stage .kind,#stairs .range,#stairs .share,#stairs .rps,#stairs .kb,#stairs .gc{color:var(--ink2)}
#stairs .w-name{width:19em}#stairs .w-kind{width:calc(6.6em + var(--pad))}#stairs .w-micros{${columnWidth(micros)}}#stairs .w-range{${columnWidth(['95 % interval', ...ranges])}}#stairs .w-share{${columnWidth(['Share', '99.9 %'])}}#stairs .w-rps{${columnWidth(['rps if it ended', ...rps])}}#stairs .w-kb{${columnWidth(['kB', ...memories.map(allocatedText)])}}#stairs .w-gc{${columnWidth(['gc %', ...memories.map(collectorText)])}}#stairs .w-verdict{${VERDICT_WIDTH}}
#stairs tbody tr.stage{border-bottom-color:transparent}#stairs .whole>*{border-top:1px solid var(--mark)}#stairs .note{margin:var(--s2) 0 0}
${STACK}{${stackedTable('stairs')}#stairs .joint{display:none}
#stairs .plot{grid-column:1/-1}#stairs tbody .plot{grid-row:2}#stairs .kind{grid-area:4/9/auto/-1;font-size:var(--f0)}
#stairs .micros{grid-area:3/1/auto/4}#stairs .range{grid-area:3/4/auto/9}#stairs .verdict{grid-area:3/9/auto/-1}#stairs .share{grid-area:4/1/auto/4}#stairs .rps{grid-area:4/4/auto/9}#stairs .kb{grid-area:5/1/auto/4}#stairs .gc{grid-area:5/4/auto/9}#stairs .whole :is(.share,.rps,.kb,.gc){border-top:0}}
`;
}
