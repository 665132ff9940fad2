import { percent, plural } from '../report/format.ts';
import { markup, type Markup, raw } from '../report/markup.ts';
import type { Section } from '../report/page.ts';
import { type Owner, ownerNames, owners } from '../profile/owner.ts';
import { tierMarks, tierNames, tiers } from '../profile/tiers.ts';
import { type GraphData, graphDataOf } from './graph-data.ts';
import { graphScript } from './graph-script.ts';
import { graphStyle } from './graph-style.ts';
import type { FlameNode, FlameResult } from './result.ts';

/** Frames that are drawn without script too: enough for print and for a browser without JavaScript. */
const staticFrames = 150;
const row = 21;

export function graphSection(result: FlameResult): Section {
  const { samples, variant, node } = result;
  const runtime = node === undefined ? '' : `, Node ${node}`;
  const flagged = result.functions.filter(({ unoptimised }) => unoptimised).length;
  const lead = `${variant}${runtime}: where the profiled thread spent its time under load, after warm-up. Root on top, heaviest child left, width is the share of samples. Colour and the mark before a name give the V8 tier a frame ran in most of the time; the boxes dim frames by owner.`;
  return {
    id: 'flame',
    heading: 'Flamegraph',
    css: graphStyle,
    script: graphScript,
    body: markup`<p class="lead">${lead}</p><div data-flame>${controls(ownerShares(result), flagged)}${tierKey(result)}
<div>${staticGraph(result)}<p class="fg-say">${sayText(result)}</p></div>${dataScript(graphDataOf(result))}</div><noscript><p class="lead">Without JavaScript, the ${plural(staticFrames, 'widest frame')} are shown and cannot be zoomed.</p></noscript>`,
  };

  function ownerShares({ owners: counts }: FlameResult): Record<Owner, string> {
    return Object.fromEntries(
      owners.map((owner) => [owner, percent(counts[owner] / samples)]),
    ) as Record<Owner, string>;
  }
}

/** Renders filters, search and reset, which stay hidden without the script. */
export function controls(shares: Record<Owner, string>, flagged: number): Markup {
  const boxes = owners.map(
    (owner, index) =>
      markup`<label><input type="checkbox" checked autocomplete="off" data-owner="${index}"> ${ownerNames[owner]} <span>${shares[owner]}</span></label>`,
  );
  const flags =
    flagged === 0
      ? undefined
      : markup`<label><input type="checkbox" checked autocomplete="off" data-flags> flag unoptimised <span>${plural(flagged, 'hot function')}</span></label>`;
  return markup`<div class="fg-ctl" hidden><div role="group" aria-label="Show frames of">${boxes}${flags}</div><div><button type="button" class="fg-reset" hidden>Reset zoom</button><input type="search" autocomplete="off" placeholder="Search  ( / )" aria-label="Search functions and files"></div></div>`;
}

function tierKey({ tiers: counts, samples }: FlameResult): Markup {
  const entries = tiers.map(
    (tier) =>
      markup`<li class="t${tier[0]!}"><b>${tierMarks[tier]}</b>${tierNames[tier]} <span>${percent(counts[tier] / samples)}</span></li>`,
  );
  return markup`<ul class="fg-key" aria-label="V8 tiers, share of self time">${entries}<li class="t0"><b>·</b>no tier (native, builtin, GC) <span>${percent(counts.none / samples)}</span></li></ul>`;
}

function sayText(result: FlameResult): string {
  const { samples, leastSamples, seconds } = result;
  const error = 1.96 * Math.sqrt(0.25 / samples) * 100;
  const thin =
    leastSamples > 1 ? ` Frames under ${percent(leastSamples / samples)} are left out.` : '';
  return `Enter or click zooms a frame, Esc resets; arrow keys move to caller, callee and neighbours, / searches. Shares are ± ${error.toFixed(1)} points at most (95 %, ${plural(samples, 'sample')} in ${seconds.toFixed(0)} s).${thin}`;
}

/** Embeds the data without executing it, so that the page's policy need not allow anything. */
export function dataScript(data: GraphData): Markup {
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  return raw(`<script type="application/json">${json}</script>`);
}

interface Placed {
  node: FlameNode;
  x: number;
}

function staticGraph(result: FlameResult): Markup {
  const { samples, tree } = result;
  const widest = placed(tree)
    .toSorted((a, b) => b.node[2] - a.node[2])
    .slice(0, staticFrames);
  const depth = Math.max(...widest.map(({ node }) => node[0]));
  const frames = widest
    .toSorted((a, b) => a.node[0] - b.node[0] || a.x - b.x)
    .map(({ node, x }) => staticFrame(result, node, x / samples));
  return markup`<svg class="fg flags" height="${(depth + 1) * row}" role="group" aria-label="Flamegraph, root at the top, width is the share of samples">${frames}</svg>`;
}

/** Returns the start of each frame, in samples. */
export function placed(tree: readonly FlameNode[]): Placed[] {
  const next: number[] = [0];
  return tree.map((node) => {
    const [depth, , total] = node;
    const x = next[depth]!;
    next[depth] = x + total;
    next[depth + 1] = x;
    return { node, x };
  });
}

function staticFrame({ functions, samples }: FlameResult, node: FlameNode, x: number): Markup {
  const [depth, index, total, self, ...counts] = node;
  const { name, owner } = functions[index]!;
  const max = Math.max(...counts);
  const tier = max === 0 ? undefined : tiers[counts.indexOf(max)]!;
  const label = (tier === undefined ? '' : tierMarks[tier]) + name;
  // Sized for the wide layout, because text cannot be measured before it is shown.
  const room = Math.floor((total / samples) * 180);
  const text = label.length <= room ? label : room < 4 ? '' : `${label.slice(0, room - 1)}…`;
  return markup`<svg class="f t${tier?.[0] ?? '0'}" x="${share(x)}" y="${depth * row}" width="${share(total / samples)}" height="20"><title>${name}, ${ownerNames[owner]}: total ${percent(total / samples)}, self ${percent(self / samples)}</title><rect/><text>${text}</text></svg>`;
}

function share(part: number): string {
  return `${Number((part * 100).toFixed(3))}%`;
}
