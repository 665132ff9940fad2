import { callsSections } from '../calls-out/report/calls-section.ts';
import { summaryText } from '../calls-out/report/call-words.ts';
import {
  type Column,
  type Document,
  figure,
  name,
  notes,
  type Section,
  table,
  words,
} from '../document/document.ts';
import { code, say, strong, type Text } from '../document/text.ts';
import { mainTier } from '../profile/functions.ts';
import { ownerNames, owners } from '../profile/owner.ts';
import { profiledText, threadsText } from '../profile/profiled-thread.ts';
import { tierMarks, tierNames, tiers } from '../profile/tiers.ts';
import { factList } from '../report/command-header.ts';
import { fixed, percent, plural, seconds } from '../report/format.ts';
import { markup, type Markup } from '../report/markup.ts';
import { share as percentOf } from '../report/plot.ts';
import { microsPerSampleOf } from './graph-data.ts';
import { graphSection } from './graph-section.ts';
import { placeWithin } from './package-place.ts';
import type { FlameFunction, FlameResult } from './result.ts';
import {
  factsOf,
  hottest,
  markedName,
  packagesText,
  regExpText,
  tierKnownText,
  unoptimised,
} from './words.ts';

/** Shows the functions by own time; the graph itself is on the page. */
export function flameDocument(result: FlameResult): Document {
  const { node, variant } = result;
  return {
    ...result,
    label: 'FLAME',
    aside: node === undefined ? variant : `${variant}, node ${node}`,
    about: aboutOf(result),
    facts: [],
    findings: findings(result),
    sections: [
      { page: graphSection(result) },
      // Below the graph, which is the reason to open the page.
      { page: { id: 'facts', heading: 'Measured on', body: factList(factsOf(result)) } },
      hotSection(result),
      ...callsSections(result.calls),
    ],
    method: method(result),
    next: unoptimised(result).length > 0 ? 'redline deopts' : undefined,
  };
}

function aboutOf(result: FlameResult): Document['about'] {
  const { samples, load, tierKnown, tiersAt, profiled } = result;
  const packages = packagesText(result);
  const perRequest =
    load === undefined
      ? ''
      : ` · ${fixed(load.microsPerRequest, 1)} µs ${threadsText(profiled)} per request`;
  const byOwner = owners.map(
    (owner) => `${ownerNames[owner]} ${percent(result.owners[owner] / samples)}`,
  );
  const byTier = tiers.map(
    (tier) => `${tierMarks[tier]} ${tierNames[tier]} ${percent(result.tiers[tier] / samples)}`,
  );
  return [
    `${plural(samples, 'sample')}${perRequest}`,
    profiled && `profiled: ${profiledText(profiled)}`,
    byOwner.join(' · '),
    packages && `in packages: ${packages}`,
    `${byTier.join(' · ')} · no tier ${percent(result.tiers.none / samples)}`,
    tiersAt && `tier known: ${tierKnownText(tierKnown, tiersAt)}`,
  ];
}

function hotSection(result: FlameResult): Section {
  const { samples } = result;
  const perSample = microsPerSampleOf(result);
  const slow = unoptimised(result);
  const max = Math.max(1, ...hottest(result, 1).map(({ self }) => self));
  const micros: Column<FlameFunction>[] =
    perSample > 0 ? [figure('µs', ({ self }) => fixed(self * perSample, 2))] : [];
  return {
    id: 'hot',
    heading: 'Functions by own time',
    lead: `Own time is the time of a function itself, without its callees. The bar is split by the tier it ran in${perSample > 0 ? '; µs are CPU per request' : ''}.`,
    parts: [
      table<FlameFunction>(
        hottest(result, 30),
        [
          name('  own time', (each) => `${each.unoptimised ? '! ' : '  '}${markedName(each)}`, {
            in: ['terminal'],
          }),
          name('function', (each) => code(each.name), { in: ['page', 'markdown'], width: '20%' }),
          figure('own', ({ self }) => percent(self / samples), { isMain: true }),
          ...micros,
          figure('total', ({ total }) => percent(total / samples)),
          words('own time by tier', (each) => tierBar(each, max), { in: ['page'], width: '16%' }),
          words('tier', tierOf, { in: ['page', 'markdown'], width: '9.5em' }),
          words('place', placeOf, { shorten: placeWithin }),
        ],
        { limit: { terminal: 15, markdown: 20 } },
      ),
      notes(
        ['The mark before a name is the tier of most of its own time; no mark: no tier.'],
        ['terminal'],
      ),
      notes(
        [
          slow.length > 0 && `! hot and not optimised: ${slow.map((each) => each.name).join(', ')}`,
          regExpText(result),
        ],
        ['terminal', 'markdown'],
      ),
    ],
  };
}

function tierOf({ tiers: shares, unoptimised: isSlow }: FlameFunction): Text {
  const tier = mainTier(shares);
  if (tier === undefined) return 'no tier';
  const text = `${tierMarks[tier]} ${tierNames[tier]}`;
  return isSlow ? say`${text}, ${strong('not optimised')}` : text;
}

function placeOf({ place, owner }: FlameFunction): Text {
  return place === '' ? ownerNames[owner] : code(place);
}

/** Draws the own time of a function, split by the tiers it ran in. */
function tierBar({ self, tiers: shares }: FlameFunction, max: number): Markup {
  const known = tiers.map((tier) => [tier[0]!, shares[tier] ?? 0] as const);
  const rest = self - known.reduce((sum, [, count]) => sum + count, 0);
  let at = 0;
  const parts = [...known, ['0', rest] as const].map(([letter, count]) => {
    const x = percentOf(at / max);
    at += count;
    return (
      count > 0 &&
      markup`<rect class="r${letter}" x="${x}" width="${percentOf(count / max)}" height="10"/>`
    );
  });
  return markup`<svg class="tiers" height="10" aria-hidden="true">${parts.filter((part) => part !== false)}</svg>`;
}

function findings(result: FlameResult): Document['findings'] {
  const { samples, owners: counts, calls } = result;
  const ownCode = result.functions.filter(({ owner }) => owner === 'app' || owner === 'deps');
  const [top] = hottest({ ...result, functions: ownCode }, 1);
  const slow = unoptimised(result);
  const regExp = regExpText(result);
  return [
    {
      word: 'app code',
      text: `${percent(counts.app / samples)} of the profiled thread’s time is the app’s own code, ${percent(counts.deps / samples)} its packages, ${percent(counts.core / samples)} Node’s own, ${percent(counts.v8 / samples)} V8’s builtins, compiler and garbage collector.`,
    },
    top && {
      word: 'hottest',
      text: say`${strong(top.name)} (${top.place}): ${percent(top.self / samples)} of the time itself, ${percent(top.total / samples)} with what it calls.`,
    },
    calls && { word: 'waits', text: summaryText(calls) },
    regExp !== undefined && { word: 'expression', text: regExp },
    ...slow.slice(0, 5).map((each) => ({
      word: 'not optimised',
      text: say`${strong(each.name)} (${each.place}): ${percent(each.self / samples)} of the time itself, most of it in Ignition or Sparkplug. ${code('redline deopts')} shows why.`,
    })),
    slow.length === 0 && {
      word: 'optimised',
      text: 'Every function that takes 1 % of the time itself runs mostly in optimised code.',
    },
  ];
}

const sources = {
  inspector:
    'V8’s sampling profiler ran through the inspector, after the warm-up; V8’s own log of the code it generates and discards (--log-code) gives the tier of each function. A function that was inlined has the tier of the code it was inlined into.',
  perf: 'Linux perf sampled the process from outside, with native frames and the kernel; node wrote a map of the code it generated (--perf-basic-prof), in which V8’s marks give the tiers. An inlined function is part of its caller.',
  file: 'The profile was read from a file. It has no tiers: V8 writes them to a separate log.',
};

function method(result: FlameResult): Document['method'] {
  const { sampler, load, profiled, tiersAt, regExpSeconds } = result;
  return [
    sources[sampler],
    tiersAt === 'sample' &&
      sampler === 'inspector' &&
      'The code V8 generated and discarded while the profile was taken is known from its jitdump (--perf-prof) and its trace of deopts (--log-deopt): a frame has the tier it was in when it was sampled. The time of a deopt is known to a few hundredths of a second.',
    tiersAt === 'start' &&
      'While the profile was taken, V8 logged nothing: tiers are those at its start, after the warm-up. Code compiled later shows its earlier tier.',
    regExpSeconds !== undefined &&
      `V8 names a regular expression only in a profile that was running when it compiled the expression, and then logs no tiers. So the server was started again and profiled for ${seconds(regExpSeconds)} in that way; the samples of a function that runs expressions are split between it and them in the proportion found there.`,
    'Samples are merged by chain of callers: their order from left to right says nothing about time. Shares are of the samples in which the profiled thread ran; idle ones are left out.',
    load &&
      `µs are the CPU of the ${threadsText(profiled)} per request, measured by the system over the same span, split by samples. They include the profiler itself: compare them with each other, not with redline bench.`,
    'One thread was profiled once. Another start may inline differently: shares move by more than the sampling error.',
    'Builtins that V8 inlines or calls without a frame count as their caller’s own time.',
  ];
}
