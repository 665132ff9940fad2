import { linearAxis } from '../../report/axis.ts';
import { commandHeader, type Finding } from '../../report/command-header.ts';
import { fixed } from '../../report/format.ts';
import { markup, type Markup } from '../../report/markup.ts';
import { methodList } from '../../report/method-list.ts';
import { renderPage } from '../../report/page.ts';
import { axisHeader, bar, plotBackground, plotCell } from '../../report/plot.ts';
import type { Section } from '../../report/section.ts';
import { STACK } from '../../report/style.ts';
import { heldBytes } from '../memory.ts';
import type { HeapResult, HeapSite } from '../result.ts';
import { stepText } from '../sites/retaining-path.ts';
import {
  factsOf,
  growthRows,
  growthText,
  howWords,
  kindsText,
  shareText,
  siteTitle,
  sizeText,
  verdictText,
} from './heap-words.ts';

/** Renders the report of `redline heap` as one self-contained file. */
export function renderHeapHtml(result: HeapResult): string {
  return renderPage({
    title: `${result.title}, heap`,
    header: commandHeader(result, findings(result), factsOf(result)),
    sections: [
      ...(result.sites.length === 0 ? [] : [sitesSection(result)]),
      growthSection(result),
      roundsSection(result),
      methodSection(),
    ],
  });
}

function findings(result: HeapResult): Finding[] {
  const reading = result.verdict === 'grows' ? 'worse' : 'same';
  return [
    {
      word: markup`<span class="v ${reading}">${result.verdict === 'grows' ? 'grows' : 'no growth'}</span>`,
      text:
        result.verdict === 'grows'
          ? `Memory ${verdictText(result)}.`
          : `Memory: ${verdictText(result)}.`,
    },
    ...result.sites.slice(0, 3).map((site) => ({
      word: shareText(site, result),
      text: markup`of the growth: <b>${siteTitle(site)}</b> ${site.line !== '' && markup`<code>${site.line}</code> `}leaves ${kindsText(site)} per request.`,
    })),
  ];
}

function sitesSection(result: HeapResult): Section {
  const rows = result.sites.map((site) => siteRow(site, result));
  return {
    id: 'sites',
    heading: 'What stays, and the line that keeps it',
    css: `#sites .w-n{width:9em}#sites .w-l{width:34%}#sites td{overflow-wrap:anywhere}#sites pre{margin:var(--s1) 0;padding:var(--s1) var(--s2);background:var(--soft);white-space:pre-wrap}
#sites ol{margin:var(--s1) 0;padding-left:var(--s3)}
${STACK}{#sites :is(table,tbody){display:block}#sites :is(thead,colgroup){display:none}#sites tr{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));column-gap:var(--s2);height:auto;padding:8px 0}#sites :is(th,td){padding:0!important;text-align:left}#sites :is(.name,.way){grid-column:1/-1}#sites td small{white-space:normal}#sites td[data-l]::before{content:attr(data-l) " ";color:var(--ink2)}}
`,
    body: markup`<p class="lead">Objects that were allocated while allocations were recorded and are still reachable, by the line of the app that keeps them. Sizes are per 1\u202f000 requests.</p><table class="t"><colgroup><col class="w-l"><col class="w-n"><col class="w-n"><col></colgroup><thead><tr><th scope="col" class="name">Line</th><th scope="col" class="n">size</th><th scope="col" class="n">of the growth</th><th scope="col">Kept by, from the roots on</th></tr></thead><tbody>${rows}</tbody></table>`,
  };
}

function siteRow(site: HeapSite, result: HeapResult): Markup {
  const way = site.path.map((step) => markup`<li><code>${stepText(step)}</code></li>`);
  const stack = site.stack.map(
    ({ name, place }) => markup`<li><code>${name || '(anonymous)'}</code> ${place}</li>`,
  );
  return markup`<tr><th scope="row" class="name"><code>${siteTitle(site)}</code><small>${site.functionName}</small>${site.line !== '' && markup`<pre><code>${site.line}</code></pre>`}<small>${howWords[site.how]}; each request leaves ${kindsText(site)}</small></th><td class="n" data-l="size"><b>${sizeText(site.bytes)}</b></td><td class="n" data-l="of the growth">${shareText(site, result)}</td><td class="way" data-l="kept by, from the roots on"><ol>${way}</ol>${stack.length > 0 && markup`<details><summary>allocated in</summary><ol>${stack}</ol></details>`}</td></tr>
`;
}

function growthSection(result: HeapResult): Section {
  const rows = growthRows(result).map(
    ({ name, interval, first, last }) =>
      markup`<tr><th scope="row" class="name">${name}</th><td class="n" data-l="per 1 000 requests">${growthText(interval)}</td><td class="n" data-l="first round">${sizeText(first)}</td><td class="n" data-l="last round">${sizeText(last)}</td></tr>
`,
  );
  return {
    id: 'growth',
    heading: 'Growth',
    css: `${STACK}{#growth td[data-l]::before{display:block;content:attr(data-l);color:var(--ink2)}#growth :is(table,tbody){display:block}#growth :is(thead,colgroup){display:none}#growth tr{display:grid;grid-template-columns:minmax(0,3fr) repeat(2,minmax(0,2fr));column-gap:var(--s2);height:auto;padding:6px 0}#growth :is(th,td){padding:0!important;text-align:left;white-space:normal}#growth .name{grid-column:1/-1}}
`,
    body: markup`<table class="t"><thead><tr><th scope="col" class="name">Memory</th><th scope="col" class="n">per 1 000 requests<small>95 % interval</small></th><th scope="col" class="n">first round</th><th scope="col" class="n">last round</th></tr></thead><tbody>${rows}</tbody></table>`,
  };
}

function roundsSection({ readings }: HeapResult): Section {
  const axis = linearAxis(readings.map((each) => heldBytes(each) / 1e6));
  const rows = readings.map((each, round) => {
    const value = heldBytes(each) / 1e6;
    const estimate = { value, low: value, high: value, reading: 'base' as const };
    const text = `${fixed(value, 2)} MB after ${fixed(each.requests)} requests`;
    return markup`<tr><th scope="row" class="name">${round === 0 ? 'before' : `round ${round}`}<small>${fixed(each.requests)} requests</small></th><td class="n" data-l="heap">${fixed(each.heapUsed / 1e6, 2)}</td><td class="n" data-l="external">${fixed(each.external / 1e6, 2)}</td><td class="n" data-l="RSS">${fixed(each.rss / 1e6, 1)}</td><td class="plot">${plotCell(`round ${round}`, text, bar(axis, 0, estimate))}</td></tr>
`;
  });
  return {
    id: 'rounds',
    heading: 'Memory after each round',
    css: `#rounds .w-r{width:11em}#rounds .w-n{width:7em}#rounds .name small{white-space:nowrap}#rounds td.plot{background:var(--plot-rounds)}:root{--plot-rounds:${plotBackground(axis)}}
${STACK}{#rounds :is(table,thead,tbody){display:block}#rounds colgroup{display:none}#rounds tr{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));column-gap:var(--s2);height:auto;padding:6px 0}#rounds :is(th,td){padding:0!important;text-align:left}#rounds :is(.name,.plot){grid-column:1/-1}#rounds thead th:not(.plot){display:none}#rounds td[data-l]::before{content:attr(data-l) " ";color:var(--ink2)}#rounds .plot .m{position:static;width:100%;height:32px}#rounds .m>*{transform:translateY(16px)}}
`,
    body: markup`<p class="lead">MB, with all garbage collected. The bar is heap and external memory.</p><table class="t"><colgroup><col class="w-r"><col class="w-n"><col class="w-n"><col class="w-n"><col></colgroup><thead><tr><th scope="col" class="name">Round</th><th scope="col" class="n">heap</th><th scope="col" class="n">external</th><th scope="col" class="n">RSS</th><th scope="col" class="plot">${axisHeader(axis)}</th></tr></thead><tbody>${rows}</tbody></table>`,
  };
}

function methodSection(): Section {
  const sentences = [
    'Equal rounds of requests are sent over connections that are renewed every 20 requests and closed at the end of a round. Once the process is idle, garbage is collected until another full collection frees nothing.',
    'Growth is the median of the slopes between any two rounds, with the interval of Theil and Sen. It counts if all of the interval is above 16 bytes per request and the later rounds grow too. Then as many rounds again are measured, and only these are reported: a cache that was filling is full by then.',
    'To find the lines, V8 records every allocation during a few more rounds: objects that each of these rounds leaves are the growth. RSS is the figure of the system; it also moves with fragmented free memory.',
    'Not covered: memory that native code allocates without reporting it to V8, except in RSS; worker threads and child processes.',
  ];
  return methodList(sentences);
}
