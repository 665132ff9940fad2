import {
  type Document,
  type Drawn,
  figure,
  type Item,
  items,
  name,
  notes,
  present,
  type Section,
  table,
  words,
} from '../document/document.ts';
import { code, say, strong } from '../document/text.ts';
import { ownerNames } from '../profile/owner.ts';
import { profiledText } from '../profile/profiled-thread.ts';
import { tierMarks, tierNames, tiers } from '../profile/tiers.ts';
import { fixed, percent, plural, seconds } from '../report/format.ts';
import { markup } from '../report/markup.ts';
import { share } from '../report/plot.ts';
import { machineFacts } from '../report/words.ts';
import type { DeoptFunction, DeoptSite, DeoptsResult } from './result.ts';

/** Max functions shown of packages, Node's own code and V8. */
const maxOthers = 10;

/**
 * Shows the functions whose optimised code V8 discarded: the app's own first.
 * @param all Include functions of others with little time of their own.
 */
export function deoptsDocument(result: DeoptsResult, all: boolean): Document {
  const { variant, node, functions, profiled } = result;
  const total = functions.reduce((sum, { sites }) => sum + timesOf(sites), 0);
  return {
    ...result,
    label: 'DEOPTS',
    aside: node === undefined ? variant : `${variant}, node ${node}`,
    about: [
      `${plural(total, 'deopt')} in ${plural(functions.length, 'function')}; the app's own first, each by its own time`,
      profiled && `of ${profiledText(profiled)}`,
    ],
    facts: factsOf(result),
    findings: findings(result),
    sections: [deoptsSection(result, all)],
    method: [
      'V8 logged the code it generates and discards (--log-code, --log-deopt) from the start of the process to the end of the load. Own time comes from a CPU profile of the three seconds after that, because V8 logs nothing while a profile is taken.',
      'A deopt belongs to the function whose code was discarded; if that function had inlined another, the place is in the other, and the chain of callers is given.',
      'One-off: a place was left once. Loop: three times or more. Still deoptimising: left again in the second half of the load. A settled deopt no longer costs anything; the current tier of the function is what counts.',
      'V8 gives up on a function after several deopts and leaves it unoptimised; nothing is logged after that. redline flame flags such functions when they are hot.',
    ],
  };
}

function findings({ functions }: DeoptsResult): Document['findings'] {
  const going = functions.filter(({ isStillGoing }) => isStillGoing);
  const loops = functions.filter(({ isLoop, isStillGoing }) => isLoop && !isStillGoing);
  const own = functions.filter(
    (each) => each.owner === 'app' && !each.isStillGoing && !each.isLoop,
  );
  const isSettled = going.length + loops.length === 0;
  const named = (some: readonly DeoptFunction[]): string => {
    const first = some.slice(0, 5).map((each) => each.name);
    return first.join(', ') + (some.length > 5 ? ` and ${some.length - 5} more` : '');
  };
  return [
    functions.length === 0 && { word: 'settled', text: 'V8 discarded no optimised code.' },
    ...going.slice(0, 3).map((each) => ({
      word: 'still going',
      text: say`${strong(each.name)} (${each.place}) still deoptimised in the second half of the load: ${each.sites[0]!.reason}.`,
    })),
    loops.length > 0 && {
      word: 'loops',
      text: `${named(loops)}: deoptimised at one place three times or more, settled since.`,
    },
    own.length > 0 &&
      !isSettled && {
        word: 'the app',
        text: `${named(own)}: lost optimised code once or twice, settled since.`,
      },
    functions.length > 0 &&
      isSettled && {
        word: 'settled',
        text: `${plural(functions.length, 'function')} lost optimised code, each once or twice, and none late in the load: V8 was still learning during warm-up.`,
      },
  ];
}

function factsOf(result: DeoptsResult): Document['facts'] {
  const { machine, node, load, profiled, loadBegan, endedAt } = result;
  return [
    ...(machine ? machineFacts(machine) : []),
    node !== undefined && ['Runtime', `Node.js ${node}`],
    profiled && ['Thread', profiledText(profiled)],
    load && ['Load', `${plural(load.connections, 'connection')}, closed loop, ${load.generator}`],
    load && ['Requests', `${load.requests.join(', ')}; ${fixed(load.completed)} completed`],
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
  const hasTimes = result.endedAt !== undefined;
  const hasProfile = functions.some(({ own }) => own !== undefined);
  const sites = functions.flatMap((each) => each.sites.map((site) => ({ each, site })));
  // Each explanation is given once, at the first place with its reason.
  const explained = new Set<string>();
  return {
    id: 'deopts',
    heading: 'Deopts',
    lead: `Functions whose optimised code V8 discarded: the app's own first, then those of packages, Node and V8, each by its own time.${hasTimes ? ' The bar is the life of the process, coloured by the tier; a tick is a deopt, the line marks the start of the measured load.' : ''}`,
    parts: [
      items(
        functions.map((each) => itemOf(each, result, explained)),
        ['terminal', 'page'],
      ),
      table<(typeof sites)[number]>(
        sites,
        [
          name('function', ({ each }) => code(each.name)),
          ...(hasProfile ? [figure('own time', ownCell)] : []),
          figure('times', ({ site }) => String(site.times)),
          words('reason', ({ site }) => site.reason),
          words('left', ({ site }) => `${tierNames[site.from]} (${site.kind})`),
          words('state', ({ each, site }) => statusOf(each, site)),
          words('place', ({ each, site }) => code(site.place || each.place)),
          words('line', ({ site }) => code(site.source?.text ?? '')),
          words('meaning', ({ site }) => site.explanation ?? ''),
        ],
        { in: ['markdown'] },
      ),
      {
        text: '~ Ignition, ^ Sparkplug, + Maglev, * TurboFan; !~ discarded, back to Ignition',
        page: markup`<ul class="fg-key" aria-label="V8 tiers">${tiers.map((tier) => markup`<li class="t${tier[0]!}"><b>${tierMarks[tier]}</b>${tierNames[tier]}</li>`)}</ul>`,
        markdown: '',
      },
      notes([leftOutText(result, functions.length)]),
    ],
  };
}

function ownCell({ each: { own } }: { each: DeoptFunction }): string {
  return own === undefined ? '' : percent(own);
}

function itemOf(each: DeoptFunction, result: DeoptsResult, explained: Set<string>): Item {
  const own = each.own === undefined ? '' : `own ${percent(each.own)} · `;
  return {
    title: say`${code(each.name)}  ${each.place}`,
    aside: `${own}now ${tierNames[each.now]}`,
    lines: [
      { page: markup`<p>${ownerNames[each.owner]}, ${plural(timesOf(each.sites), 'time')}</p>` },
      timeline(each, result),
      ...each.sites.flatMap((site) => siteLines(each, site, explained)),
    ],
  };
}

function siteLines(each: DeoptFunction, site: DeoptSite, explained: Set<string>): Item['lines'] {
  const { reason, times, from, kind, place, explanation } = site;
  const inlined = site.inlinedAt.map((at) => `, inlined at ${at}`).join('');
  const isNew = explanation !== undefined && !explained.has(explanation);
  if (isNew) explained.add(explanation);
  return [
    say`${fixed(times)} × ${strong(reason)}; left ${tierNames[from]} (${kind}); ${statusOf(each, site)}`,
    place !== '' && say`${code(place)}${inlined}`,
    sourceLine(site),
    isNew && explanation,
  ];
}

/** Marks the place in its line; a long line is shown around it in a terminal. */
function sourceLine({ source }: DeoptSite): Drawn | undefined {
  if (source === undefined) return undefined;
  const at = source.column - 1;
  const before = source.text.slice(0, at).trimStart();
  const after = source.text.slice(at).trimEnd();
  const start = before.length > maxBefore ? `…${before.slice(-maxBefore)}` : before;
  return {
    terminal: [`| ${start}${after}`, `| ${' '.repeat(start.length)}^`],
    page: markup`<pre><code>${before}<mark>${after.slice(0, 1) || ' '}</mark>${after.slice(1)}</code></pre>`,
  };
}

/** Leaves room for what follows the place. */
const maxBefore = 36;

/** Draws the tiers of a function over the life of the process. */
function timeline({ history }: DeoptFunction, { endedAt, loadBegan }: DeoptsResult): Drawn {
  const steps = history.map(({ seconds: when, tier, deopt }) => {
    const mark = deopt === undefined ? tierMarks[tier] : `!${tierMarks[tier]}`;
    return when === undefined ? mark : `${mark} ${fixed(when, 2)} s`;
  });
  const middle = steps.length > maxSteps ? [`(${steps.length - maxSteps} more)`] : [];
  const half = steps.length > maxSteps ? maxSteps / 2 : steps.length;
  const text = [
    ...steps.slice(0, half),
    ...middle,
    ...(middle.length > 0 ? steps.slice(-half) : []),
  ];
  if (endedAt === undefined) return { text: text.join('  '), page: markup`` };
  const at = (time: number): string => share(time / endedAt);
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
    loadBegan !== undefined &&
    markup`<rect class="began" x="${at(loadBegan)}" width="1" height="16"/>`;
  return {
    text: text.join('  '),
    page: markup`<svg class="tiers" height="16" aria-hidden="true">${spans}${began}${ticks}</svg>`,
  };
}

const maxSteps = 14;

function timesOf(sites: readonly DeoptSite[]): number {
  return sites.reduce((sum, { times }) => sum + times, 0);
}

/** Returns true for functions that take time, and for others if they keep on deoptimising. */
function matters({ own, isLoop, isStillGoing }: DeoptFunction): boolean {
  return own === undefined || own >= 0.001 || isLoop || isStillGoing;
}

/** Returns all of the app's own functions, which can be changed here, and of the others those that matter. */
function shown({ functions }: DeoptsResult, all: boolean): DeoptFunction[] {
  if (all) return functions;
  const others = functions.filter((each) => each.owner !== 'app' && matters(each));
  const kept = new Set(others.slice(0, maxOthers));
  return functions.filter((each) => each.owner === 'app' || kept.has(each));
}

/** Names what the list leaves out, in one sentence. */
function leftOutText({ functions, benign }: DeoptsResult, count: number): string {
  const rest = functions.length - count;
  const parts = present([
    rest > 0 && `${plural(rest, 'function')} of packages, Node and V8 with less time of their own`,
    benign > 0 && `${plural(benign, 'deopt')} that are a normal part of how V8 works`,
  ]);
  if (parts.length === 0) return '';
  return `Not shown: ${parts.join(' and ')}${rest > 0 ? '; --all shows the functions' : ''}.`;
}

/** Returns the pattern of a place, and its state: settled, or still deoptimising. */
function statusOf(each: DeoptFunction, site: DeoptSite): string {
  const pattern = site.times >= 3 ? 'loop' : site.times === 2 ? 'twice' : 'one-off';
  return each.isStillGoing ? `${pattern}, still deoptimising` : `${pattern}, settled`;
}
