import type { AdviseResult } from './result.ts';
import {
  type AdviseFigures,
  adviseFigures,
  type AdviseRow,
  rewriteWords,
  samplingText,
} from './advise-rows.ts';
import { columnWidth } from '../report/column-width.ts';
import { fixed, percent, plural } from '../report/format.ts';
import { markup, type Markup } from '../report/markup.ts';
import { renderPage } from '../report/page.ts';
import { axisHeader, dot, plotBackground, plotCell, whisker } from '../report/plot.ts';
import type { Section } from '../report/section.ts';
import { STACK, stackedTable } from '../report/style.ts';
import { dateOf } from '../report/words.ts';

/** Renders the report of `redline advise` as one self-contained file. */
export function renderAdviseHtml(result: AdviseResult): string {
  const figures = adviseFigures(result);
  const { profile, advice } = result;
  const facts: [string, string][] = [
    ['Profile', profile.from],
    [
      'Samples',
      `${fixed(profile.samples)} in ${fixed(profile.seconds, 1)} s; ${samplingText(result)}`,
    ],
    [
      'Gains measured on',
      `Node ${[...new Set(advice.map(({ gain }) => gain.node))].join(', ') || result.node}`,
    ],
    ['Looked at', `functions with ${percent(result.leastShare)} of the time or more`],
  ];
  return renderPage({
    title: `Advice for ${result.title}`,
    header: markup`<div class="top"><p class="brand">redline <span>${result.redlineVersion} · ${dateOf(result.startedAt)} · run ${result.runId}</span></p><button type="button" id="theme" hidden>Theme: auto</button></div>
<h1>Advice for ${result.title}</h1><p class="cmd"><code>${result.invocation}</code></p><dl class="facts">${facts.map(([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`,
    sections: [hits(result, figures), ...otherSections(result), method()],
  });
}

function hits(result: AdviseResult, figures: AdviseFigures): Section {
  const { rows, axis } = figures;
  if (rows.length === 0) {
    return {
      id: 'advice',
      heading: 'Advice',
      body: markup`<p class="lead">No rule that gains on Node ${result.node} is hit in a function with ${percent(result.leastShare)} of the time or more.</p>`,
    };
  }
  return {
    id: 'advice',
    heading: 'Advice',
    body: markup`<p class="lead">${plural(rows.length, 'hit')}, most time first. Time is that of the function, with the builtins it calls and the functions written inside it. The gain is that of the piece of code alone, measured on this Node; the request gains less.</p>
<table class="t" role="table"><colgroup><col class="w-time"><col class="w-name"><col class="w-code"><col><col class="w-gain"><col class="w-how"></colgroup>
<thead role="rowgroup"><tr role="row"><th role="columnheader" class="n">time<small>%</small></th><th role="columnheader" class="name">Rule<small>function, place</small></th><th role="columnheader">Code</th><th role="columnheader" class="plot">gain, × (log)${axisHeader(axis)}</th><th role="columnheader" class="n">×<small>interval</small></th><th role="columnheader">Rewrite</th></tr></thead>
<tbody role="rowgroup" data-rove>${rows.map((row) => tableRow(row, figures))}</tbody></table>`,
    css: `#advice .gain-plot{background:${plotBackground(axis, 1)}}#advice .w-time{width:5em}#advice .w-name{width:19em}#advice .w-code{width:34%}#advice .w-gain{${columnWidth(
      rows.map(({ text }) => text.value),
      rows.map(({ text }) => text.range),
    )}}#advice .w-how{width:11em}#advice tbody tr{height:auto}#advice .how small{white-space:normal}#advice del,#advice ins{display:block;text-decoration:none}#advice del{color:var(--ink2)}#advice del::before{content:"− "}#advice ins::before{content:"+ "}
${STACK}{${stackedTable('advice')}#advice .time{grid-column:1/3}#advice tbody .name{grid-column:3/-1;grid-row:1}#advice .code,#advice .plot{grid-column:1/-1}#advice .gain{grid-column:1/7}#advice .how{grid-column:7/-1}}
`,
  };
}

function tableRow({ advice, gain, text, place }: AdviseRow, { axis }: AdviseFigures): Markup {
  const plot = plotCell(
    `${advice.rule} at ${place}: ${text.value} ×`,
    `95 % interval ${text.range}, Node ${advice.gain.node}`,
    markup`${whisker(axis, gain)}${dot(axis, gain)}`,
  );
  const rewritten = advice.rewrite && markup`<ins><code>${advice.rewrite.text}</code></ins>`;
  const warning =
    advice.changesResult !== undefined && markup`<small>${advice.changesResult}</small>`;
  return markup`<tr role="row"><td role="cell" class="n time"><b>${percent(advice.share)}</b></td><th role="rowheader" scope="row" class="name">${advice.rule}<small>${advice.function}, ${place}</small><small>${advice.text}</small></th><td role="cell" class="code"><del><code>${advice.code}</code></del>${rewritten}</td><td role="cell" class="plot gain-plot">${plot}</td><td role="cell" class="n gain"><b>${text.value}</b><small>${text.range}</small></td><td role="cell" class="how">${rewriteWords(advice)}${warning}</td></tr>
`;
}

function otherSections({ leftOut, unread }: AdviseResult): Section[] {
  if (leftOut.length + unread.length === 0) return [];
  const items = [
    ...unread.map(({ url, why }) => `${url} could not be read: ${why}.`),
    ...leftOut.map(({ rule, hits: count, why }) => `${rule}, ${plural(count, 'hit')}: ${why}.`),
  ];
  return [
    {
      id: 'left-out',
      heading: 'Left out',
      body: markup`<ul>${items.map((text) => markup`<li>${text}</li>`)}</ul>`,
    },
  ];
}

function method(): Section {
  const sentences = [
    'A gain is the time of the code before divided by the time after, each alone in a loop in a process of its own, on the inputs of the rule’s proof. redline prove repeats it.',
    'A hit says that the code has the form the rule looks for and that its function is hot. It does not say that this line makes it hot: measure the request before and after.',
    'Rules look at one file at a time and know the types of values only as far as that file shows. They miss what it does not show.',
  ];
  return {
    id: 'method',
    heading: 'Method and limits',
    body: markup`<ul>${sentences.map((text) => markup`<li>${text}</li>`)}</ul>`,
  };
}
