import { commandHeader, type Finding } from '../report/command-header.ts';
import { fixed, percent, plural, seconds } from '../report/format.ts';
import { markup, type Markup } from '../report/markup.ts';
import { methodList } from '../report/method-list.ts';
import { renderPage } from '../report/page.ts';
import type { Section } from '../report/section.ts';
import { STACK } from '../report/style.ts';
import { stealText } from '../report/words.ts';
import { ownerNames } from '../profile/owner.ts';
import { profiledText } from '../profile/profiled-thread.ts';
import { tierMarks, tierNames, tiers } from '../profile/tiers.ts';
import type { DeoptFunction, DeoptSite, DeoptsResult } from './result.ts';
import { leftOutText, shown, statusOf } from './words.ts';

/** Renders the report of `redline deopts` as one self-contained file. */
export function renderDeoptsHtml(result: DeoptsResult, all: boolean): string {
  return renderPage({
    title: `${result.title}, deopts`,
    header: commandHeader(result, findings(result), factsOf(result)),
    sections: [deoptsSection(result, all), methodSection()],
  });
}

function findings({ functions }: DeoptsResult): Finding[] {
  const going = functions.filter(({ isStillGoing }) => isStillGoing);
  const loops = functions.filter(({ isLoop, isStillGoing }) => isLoop && !isStillGoing);
  const own = functions.filter(
    (each) => each.owner === 'app' && !each.isStillGoing && !each.isLoop,
  );
  const [top] = functions;
  if (top === undefined) {
    return [{ word: 'settled', text: 'V8 discarded no optimised code.' }];
  }
  return [
    ...going.slice(0, 3).map((each) => ({
      word: 'still going',
      text: markup`<b>${each.name}</b> (${each.place}) still deoptimised in the second half of the load: ${each.sites[0]!.reason}.`,
    })),
    ...(loops.length > 0
      ? [
          {
            word: 'loops',
            text: markup`${loops
              .map(({ name }) => name)
              .slice(0, 5)
              .join(', ')}: deoptimised at one place three times or more, settled since.`,
          },
        ]
      : []),
    ...(own.length > 0 && going.length + loops.length > 0
      ? [
          {
            word: 'the app',
            text: markup`${own
              .map(({ name }) => name)
              .slice(0, 5)
              .join(
                ', ',
              )}${own.length > 5 ? ` and ${own.length - 5} more` : ''}: lost optimised code once or twice, settled since.`,
          },
        ]
      : []),
    ...(going.length + loops.length === 0
      ? [
          {
            word: 'settled',
            text: markup`${plural(functions.length, 'function')} lost optimised code, each once or twice, and none late in the load: V8 was still learning during warm-up.`,
          },
        ]
      : []),
  ];
}

function factsOf(result: DeoptsResult): [name: string, value: string][] {
  const { machine, node, load, profiled, loadBegan, endedAt } = result;
  return [
    ...(machine === undefined
      ? []
      : ([
          [
            'Machine',
            `${machine.cpuModel}, ${plural(machine.cores, 'core')}, ${machine.memoryGiB} GiB`,
          ],
          ['Kernel, steal', `${machine.kernel}; ${stealText(machine.steal)}`],
        ] as [string, string][])),
    ...(node === undefined ? [] : ([['Runtime', `Node.js ${node}`]] as [string, string][])),
    ...(profiled === undefined ? [] : ([['Thread', profiledText(profiled)]] as [string, string][])),
    ...(load === undefined
      ? []
      : ([
          ['Load', `${plural(load.connections, 'connection')}, closed loop, ${load.generator}`],
          ['Requests', `${load.requests.join(', ')}; ${fixed(load.completed)} completed`],
        ] as [string, string][])),
    [
      'Log',
      endedAt === undefined
        ? 'this Node gives no times'
        : `${seconds(endedAt)}${loadBegan === undefined ? '' : `, the load that counts from ${seconds(loadBegan)} on`}`,
    ],
  ];
}

function deoptsSection(result: DeoptsResult, all: boolean): Section {
  const functions = shown(result, all);
  const rest = leftOutText(result, functions.length);
  const hasTimes = result.endedAt !== undefined;
  const body = functions.map((each) => rows(each, result));
  return {
    id: 'deopts',
    heading: 'Deopts',
    css: style,
    body: markup`<p class="lead">Functions whose optimised code V8 discarded: the app's own first, then those of packages, Node and V8, each by its own time. ${hasTimes && 'The bar is the life of the process, coloured by the tier; a tick is a deopt, the line marks the start of the measured load.'} ${rest}</p>
<ul class="fg-key" aria-label="V8 tiers">${tiers.map((tier) => markup`<li class="t${tier[0]!}"><b>${tierMarks[tier]}</b>${tierNames[tier]}</li>`)}</ul>
<table class="t"><colgroup><col class="w-fn"><col><col class="w-own"><col class="w-times"><col class="w-now"></colgroup><thead><tr><th scope="col" class="name">Function</th><th scope="col">Tiers over time, reasons and places</th><th scope="col" class="n">own</th><th scope="col" class="n">times</th><th scope="col">Now</th></tr></thead><tbody>${body}</tbody></table>`,
  };
}

function rows(each: DeoptFunction, result: DeoptsResult): Markup {
  const times = each.sites.reduce((sum, site) => sum + site.times, 0);
  const status = each.isStillGoing ? markup`<b>still deoptimising</b>` : markup`settled`;
  return markup`<tr><th scope="row" class="name"><code>${each.name}</code><small>${each.place}</small><small>${ownerNames[each.owner]}</small></th><td>${timeline(each, result)}${each.sites.map((site) => siteMarkup(site, each))}</td><td class="n" data-l="own">${each.own === undefined ? '–' : percent(each.own)}</td><td class="n" data-l="times">${times}</td><td data-l="now"><i class="sw t${each.now[0]!}" aria-hidden="true"></i>${tierMarks[each.now]} ${tierNames[each.now]}<small>${status}</small></td></tr>
`;
}

function siteMarkup(site: DeoptSite, each: DeoptFunction): Markup {
  const inlined = site.inlinedAt.map((place) => markup`, inlined at <code>${place}</code>`);
  const { source } = site;
  const code =
    source === undefined
      ? undefined
      : markup`<pre><code>${source.text.slice(0, source.column - 1).trimStart()}<mark>${source.text.slice(source.column - 1, source.column) || ' '}</mark>${source.text.slice(source.column)}</code></pre>`;
  return markup`<div class="site"><p><b>${site.reason}</b> – ${site.times} ×, left ${tierNames[site.from]} (${site.kind}), ${statusOf(each, site)}</p>${site.place !== '' && markup`<p><code>${site.place}</code>${inlined}</p>`}${code}${site.explanation && markup`<p class="why">${site.explanation}</p>`}</div>`;
}

function timeline(
  { history }: DeoptFunction,
  { endedAt, loadBegan }: DeoptsResult,
): Markup | undefined {
  if (endedAt === undefined) return undefined;
  const at = (time: number): string => `${Number(((time / endedAt) * 100).toFixed(2))}%`;
  const spans = history.map(({ seconds: from = 0, tier }, index) => {
    const to = history[index + 1]?.seconds ?? endedAt;
    return markup`<rect class="r${tier[0]!}" x="${at(from)}" width="${at(Math.max(0, to - from))}" height="10"/>`;
  });
  const ticks = history
    .filter(({ deopt }) => deopt !== undefined)
    .map(
      ({ seconds: when = 0 }) => markup`<rect class="tick" x="${at(when)}" width="2" height="16"/>`,
    );
  const began =
    loadBegan === undefined
      ? undefined
      : markup`<rect class="began" x="${at(loadBegan)}" width="1" height="16"/>`;
  return markup`<svg class="life" height="16" aria-hidden="true">${spans}${began}${ticks}</svg>`;
}

function methodSection(): Section {
  const sentences = [
    'V8 logged the code it generates and discards (--log-code, --log-deopt) from the start of the process to the end of the load. Own time comes from a CPU profile of the three seconds after that, because V8 logs nothing while a profile is taken.',
    'A deopt belongs to the function whose code was discarded; if that function had inlined another, the place is in the other, and the chain of callers is given.',
    'One-off: a place was left once. Loop: three times or more. Still deoptimising: left again in the second half of the load. A settled deopt no longer costs anything; the current tier of the function is what counts.',
    'V8 gives up on a function after several deopts and leaves it unoptimised; nothing is logged after that. redline flame flags such functions when they are hot.',
  ];
  return methodList(sentences);
}

const style = `.fg-key{display:flex;flex-wrap:wrap;gap:var(--s1) var(--s3);margin:0 0 var(--s2);font-size:var(--f0)}.fg-key b{display:inline-block;width:18px;height:18px;line-height:18px;text-align:center;font-family:var(--mono);margin-right:6px}
.ti b,i.ti{background:var(--t-i);color:var(--on-light)}.ts b,i.ts{background:var(--t-s);color:var(--on-light)}.tm b,i.tm{background:var(--t-m);color:var(--on-light)}.tt b,i.tt{background:var(--t-t);color:var(--on-dark)}
i.sw{display:inline-block;width:10px;height:10px;margin-right:6px}
#deopts .w-fn{width:24%}#deopts .w-own{width:5.5em}#deopts .w-times{width:5em}#deopts .w-now{width:11em}#deopts td{overflow-wrap:anywhere}
#deopts .life{margin:4px 0 6px}#deopts .ri{fill:var(--t-i)}#deopts .rs{fill:var(--t-s)}#deopts .rm{fill:var(--t-m)}#deopts .rt{fill:var(--t-t)}#deopts .tick{fill:var(--ink)}#deopts .began{fill:var(--ink2)}
#deopts .site{margin-bottom:var(--s2)}#deopts pre{margin:var(--s1) 0;padding:var(--s1) var(--s2);background:var(--soft);white-space:pre-wrap}#deopts mark{background:var(--t-s);color:var(--on-light)}#deopts .why{color:var(--ink2);max-width:90ch}
${STACK}{#deopts :is(table,tbody){display:block}#deopts :is(thead,colgroup){display:none}#deopts tr{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));column-gap:var(--s2);height:auto;padding:8px 0}#deopts :is(th,td){padding:0!important;text-align:left}#deopts :is(.name,.name+td){grid-column:1/-1}#deopts td small{white-space:normal}#deopts td[data-l]::before{content:attr(data-l) " ";color:var(--ink2)}}
`;
