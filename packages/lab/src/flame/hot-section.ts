import { percent } from '../report/format.ts';
import { markup, type Markup } from '../report/markup.ts';
import type { Section } from '../report/section.ts';
import { STACK } from '../report/style.ts';
import { ownerNames } from '../profile/owner.ts';
import { mainTier } from '../profile/functions.ts';
import { tierMarks, tierNames, tiers } from '../profile/tiers.ts';
import { microsPerSampleOf } from './graph-data.ts';
import type { FlameFunction, FlameResult } from './result.ts';
import { hottest } from './words.ts';

const rows = 30;

/** Renders the functions by own time: the graph in the form of a table. */
export function hotSection(result: FlameResult): Section {
  const perSample = microsPerSampleOf(result);
  const micros = perSample > 0;
  const body = hottest(result, rows).map((each) => row(each, result, perSample));
  return {
    id: 'hot',
    heading: 'Functions by own time',
    css: style,
    body: markup`<p class="lead">Own time is the time of a function itself, without its callees. The bar is split by the tier it ran in${micros ? '; µs are CPU per request' : ''}.</p>
<table class="t"><colgroup><col class="w-fn"><col><col class="w-n">${micros && markup`<col class="w-n">`}<col class="w-n"><col class="w-bar"><col class="w-now"></colgroup>
<thead><tr><th scope="col" class="name">Function</th><th scope="col">Place</th><th scope="col" class="n">own</th>${micros && markup`<th scope="col" class="n">µs</th>`}<th scope="col" class="n">with callees</th><th scope="col">Own time by tier</th><th scope="col">Mostly</th></tr></thead><tbody>${body}</tbody></table>`,
  };
}

function row(each: FlameFunction, result: FlameResult, perSample: number): Markup {
  const { samples } = result;
  const max = Math.max(1, ...hottest(result, 1).map(({ self }) => self));
  const tier = mainTier(each.tiers);
  const parts = tiers.map((name) => [name[0]!, each.tiers[name] ?? 0] as const);
  const known = parts.reduce((sum, [, count]) => sum + count, 0);
  const bar = [...parts, ['0', each.self - known] as const]
    .filter(([, count]) => count > 0)
    .map(
      ([letter, count]) =>
        markup`<rect class="r${letter}" x="${share(offset(letter), max)}" width="${share(count, max)}" height="10"/>`,
    );
  const now = tier === undefined ? 'no tier' : `${tierMarks[tier]} ${tierNames[tier]}`;
  return markup`<tr><th scope="row" class="name"><code>${each.name}</code><small>${ownerNames[each.owner]}</small></th><td class="place" data-l="place"><code>${each.place || '–'}</code></td><td class="n" data-l="own"><b>${percent(each.self / samples)}</b></td>${perSample > 0 && markup`<td class="n" data-l="µs">${(each.self * perSample).toFixed(2)}</td>`}<td class="n" data-l="with callees">${percent(each.total / samples)}</td><td class="bar"><svg height="10" aria-hidden="true">${bar}</svg></td><td class="now" data-l="mostly"><i class="sw t${tier?.[0] ?? '0'}" aria-hidden="true"></i>${now}${each.unoptimised && markup`<small><b>not optimised</b></small>`}</td></tr>
`;

  function offset(letter: string): number {
    let before = 0;
    for (const [other, count] of parts) {
      if (other === letter) return before;
      before += count;
    }
    return before;
  }
}

function share(count: number, max: number): string {
  return `${Number(((count / max) * 100).toFixed(2))}%`;
}

const style = `#hot .w-fn{width:20%}#hot .w-n{width:6em}#hot .w-bar{width:18%}#hot .w-now{width:9.5em}#hot td{overflow-wrap:anywhere}#hot .bar svg{margin-top:5px}
#hot .ri{fill:var(--t-i)}#hot .rs{fill:var(--t-s)}#hot .rm{fill:var(--t-m)}#hot .rt{fill:var(--t-t)}#hot .r0{fill:var(--t-0)}
i.sw{display:inline-block;width:10px;height:10px;margin-right:6px}
${STACK}{#hot :is(table,tbody){display:block}#hot :is(thead,colgroup){display:none}#hot tr{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));column-gap:var(--s2);height:auto;padding:6px 0}#hot :is(th,td){padding:0!important;text-align:left}#hot :is(.name,.place,.bar){grid-column:1/-1}#hot .name small{display:inline;margin-left:var(--s2)}#hot .n{white-space:normal}#hot .n::before{content:attr(data-l) " ";color:var(--ink2)}}
`;
