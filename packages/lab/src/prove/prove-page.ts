import { isProven, type ProveResult, type ProvenRule } from './result.ts';
import { columnWidth, VERDICT_WIDTH } from '../report/column-width.ts';
import { stealText } from '../report/words.ts';
import { fixed, percent, plural, seconds } from '../report/format.ts';
import { markup, type Markup } from '../report/markup.ts';
import { renderPage } from '../report/page.ts';
import { axisHeader, dot, plotBackground, plotCell, whisker } from '../report/plot.ts';
import { duration, type ProveFigures, proveFigures, type ProveRow } from './prove-rows.ts';
import { spokenWord } from '../report/reading.ts';
import type { Section } from '../report/section.ts';
import { STACK, stackedTable } from '../report/style.ts';
import { dateOf, verdictWord } from '../report/words.ts';

/** Renders the report of `redline prove` as one self-contained file. Raw blocks stay in the JSON. */
export function renderProveHtml(result: ProveResult): string {
  const figures = proveFigures(result);
  const title =
    result.rules.length === 1
      ? `What ${result.rules[0]!.rule} gains`
      : `What ${plural(result.rules.length, 'rule')} gain`;
  return renderPage({
    title,
    header: markup`<div class="top"><p class="brand">redline <span>${result.redlineVersion} · ${dateOf(result.startedAt)} · run ${result.runId}</span></p><button type="button" id="theme" hidden>Theme: auto</button></div>
<h1>${title}</h1><p class="cmd"><code>${result.invocation}</code></p>${facts(result)}`,
    sections: [gains(result, figures), code(result), method(result)],
  });
}

function facts({ machine, precision, rules, durationSeconds }: ProveResult): Markup {
  const timers = new Set(
    rules.flatMap(({ runtimes }) => runtimes.filter(isProven).map(({ timer }) => timer)),
  );
  const entries: [string, string][] = [
    ['Machine', `${machine.cpuModel}, ${plural(machine.cores, 'core')}, ${machine.memoryGiB} GiB`],
    ['Virtualisation, steal', `${machine.virtualisation}; ${stealText(machine.steal)}`],
    ['Kernel, governor', `${machine.kernel}; governor ${machine.governor}`],
    ['Timed with', [...timers].join(', ')],
    [
      'Rounds',
      `${plural(precision.restarts, 'restart')} × ${plural(precision.blocks, 'block')} of ${precision.blockMs} ms in ${seconds(durationSeconds)}`,
    ],
    ['No difference', `± ${percent(precision.leastGain)}`],
  ];
  return markup`<dl class="facts">${entries.map(([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function gains(result: ProveResult, figures: ProveFigures): Section {
  const { axis, band, rows } = figures;
  const texts = rows.flatMap(({ measured }) => (measured ? [measured.text] : []));
  const body = rows.map(
    (row, index) =>
      markup`<tr role="row"${row.rule === rows[index - 1]?.rule && markup` class="more"`}><th role="rowheader" scope="row" class="name">${row.rule.rule}<small>Node ${row.node}</small></th>${cells(row, figures)}</tr>
`,
  );
  return {
    id: 'gains',
    heading: 'Gain by rule and Node',
    body: markup`<p class="lead">Time of the code that the rule reports, divided by the time of the code that it suggests: above 1 the advice pays. Shaded: ±\u00a0${percent(result.precision.leastGain)}, which is negligible in any program. An interval wholly outside is ${verdictWord('better')} for the better or ${verdictWord('worse')} for the worse, one around 1 and wholly inside is ${verdictWord('same')}, any other is ${verdictWord('unresolved')}.</p>
<table class="t" role="table"><colgroup><col class="w-name"><col><col class="w-gain"><col class="w-verdict"><col class="w-time"></colgroup>
<thead role="rowgroup"><tr role="row"><th role="columnheader" class="name">Rule</th><th role="columnheader" class="plot">before / after (log)${axisHeader(axis)}</th><th role="columnheader" class="n">×<small>interval</small></th><th role="columnheader">Verdict</th><th role="columnheader" class="n">before → after<small>one call</small></th></tr></thead>
<tbody role="rowgroup" data-rove>${body}</tbody></table>`,
    css: `#gains .gain-plot{background:${plotBackground(axis, 1, band)}}#gains .w-name{width:17em}#gains .w-gain{${columnWidth(
      texts.map(({ value }) => value),
      texts.map(({ range }) => range),
    )}}#gains .w-verdict{${VERDICT_WIDTH}}#gains .w-time{width:13em}
${STACK}{${stackedTable('gains')}#gains .plot{grid-column:1/-1}#gains .gain{grid-column:1/5}#gains .verdict{grid-column:5/9}#gains .time{grid-column:9/-1}}
`,
  };
}

function cells(row: ProveRow, { axis }: ProveFigures): Markup {
  if (!row.measured) {
    return markup`<td role="cell" class="skipped" colspan="4"><span class="v skip">skipped:</span> ${row.skipped}</td>`;
  }
  const { runtime, gain, text } = row.measured;
  const plot = plotCell(
    `${row.rule.rule} on Node ${row.node}: ${text.value} ×, ${spokenWord(gain.reading)}`,
    `95 % interval ${text.range}`,
    markup`${whisker(axis, gain)}${dot(axis, gain)}`,
  );
  return markup`<td role="cell" class="plot gain-plot">${plot}</td><td role="cell" class="n gain"><b>${text.value}</b><small>${text.range}</small></td><td role="cell" class="verdict">${verdictWord(gain.reading)}</td><td role="cell" class="n time">${duration(runtime.beforeNanos)} → ${duration(runtime.afterNanos)}</td>`;
}

function code({ rules }: ProveResult): Section {
  const entry = (rule: ProvenRule): Markup =>
    markup`<h3>${rule.rule}</h3>${rule.changesResult !== undefined && markup`<p class="lead">Changes the result: ${rule.changesResult}.</p>`}<div class="sides"><pre><code>${rule.before}</code></pre><pre><code>${rule.after}</code></pre></div>`;
  return {
    id: 'code',
    heading: 'What was timed',
    body: markup`<p class="lead">Left: the code the rule reports. Right: the code it suggests.</p>${rules.map(entry)}`,
    css: '#code .sides{display:grid;grid-template-columns:1fr 1fr;gap:var(--s3);margin-bottom:var(--s3)}#code pre{margin:0;padding:var(--s2);background:var(--soft);overflow-x:auto}#code code{overflow-wrap:normal}@media screen and (max-width:960px){#code .sides{grid-template-columns:minmax(0,1fr)}}\n',
  };
}

function method({ precision }: ProveResult): Section {
  const sentences = [
    'Each side runs in a process of its own, so that neither sees the types the other received. Both sides were given the same inputs first and, unless stated otherwise, gave equal results.',
    `Every restart starts both processes and warms them up for ${precision.warmUpMs} ms; each block times both in a random order. Garbage collection is included.`,
    'Results are stored in an array that is reachable from the global object, so that the compiler cannot omit any.',
    `A block gives one log ratio, a restart its median, the estimate is their mean; the interval is a two-level bootstrap, ${fixed(precision.resamples)} times (seed ${precision.seed}).`,
    'A single operation in its own loop shows the most it can gain. In a program it is one of many, other code may have polluted its types, and it shares the caches: measure the program.',
  ];
  return {
    id: 'method',
    heading: 'Method and limits',
    body: markup`<ul>${sentences.map((text) => markup`<li>${text}</li>`)}</ul>`,
  };
}
