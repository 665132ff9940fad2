import { fixed, percent, plural, seconds } from '../report/format.ts';
import { machineFacts } from '../report/words.ts';
import { hotShare, mainTier } from '../profile/functions.ts';
import { type ProfiledThread, profiledText, threadsText } from '../profile/profiled-thread.ts';
import { sourceOfRegExp } from '../profile/reg-exp-names.ts';
import { tierMarks } from '../profile/tiers.ts';
import type { FlameFunction, FlameLoad, FlameResult } from './result.ts';

/** Lists machine, runtime and load for the head of a page. */
export function factsOf(result: FlameResult): [name: string, value: string][] {
  const { machine, node, load, profiled, samples, idleSamples, seconds: taken, tierKnown } = result;
  const packages = packagesText(result);
  return [
    ...(machine ? machineFacts(machine) : []),
    ...(node === undefined ? [] : ([['Profiled', `Node.js ${node}`]] as [string, string][])),
    ...(profiled === undefined ? [] : ([['Thread', profiledText(profiled)]] as [string, string][])),
    ...(load === undefined ? [] : loadFacts(load, profiled)),
    ...(packages === undefined
      ? []
      : ([['Packages, with what Node does for them', packages]] as [string, string][])),
    ['Samples', `${fixed(samples)} in ${seconds(taken)}, ${fixed(idleSamples)} more idle`],
    ...(result.tiersAt === undefined
      ? []
      : ([['Tier known', tierKnownText(tierKnown, result.tiersAt)]] as [string, string][])),
  ];
}

/** Packages with a smaller share are left out. */
const minShare = 0.005;
const maxPackages = 8;

/** Returns `pg 50 % · sequelize 20 %`; undefined if no package took time. */
export function packagesText({
  packages = [],
  samples,
}: Pick<FlameResult, 'packages' | 'samples'>): string | undefined {
  const shown = packages
    .filter((each) => each.samples / samples >= minShare)
    .slice(0, maxPackages)
    .map((each) => `${each.name} ${percent(each.samples / samples)}`);
  return shown.length === 0 ? undefined : shown.join(' · ');
}

/** Returns the share of frames with a known tier, and the time it is known for. */
export function tierKnownText(tierKnown: number, at: 'sample' | 'start'): string {
  const when = at === 'sample' ? 'at the time of each sample' : 'as it was when the profile began';
  return `${percent(tierKnown)} of the JavaScript frames, ${when}`;
}

function loadFacts(
  load: FlameLoad,
  profiled: ProfiledThread | undefined,
): [name: string, value: string][] {
  return [
    ['Load', `${plural(load.connections, 'connection')}, closed loop, ${load.generator}`],
    ['Requests', `${load.requests.join(', ')}; ${fixed(load.completed)} completed`],
    [
      'CPU per request',
      `${fixed(load.microsPerRequest, 1)} µs on the ${threadsText(profiled)}; the server used ${percent(load.serverBusy)} of a core`,
    ],
  ];
}

/** Returns `*emit`: the name with the mark of the tier in which most of its own time was spent. */
export function markedName({ name, tiers }: FlameFunction): string {
  const tier = mainTier(tiers);
  return tier === undefined ? name : tierMarks[tier] + name;
}

/** Returns the functions with the most own time, without those that only call others. */
export function hottest(result: FlameResult, count: number): FlameFunction[] {
  return result.functions
    .filter(({ self, name }) => self > 0 && name !== '(all)')
    .toSorted((a, b) => b.self - a.self)
    .slice(0, count);
}

const maxExpressions = 5;
const maxSource = 80;

/** Names the regular expressions with the time and the functions that run them; undefined if there are none. */
export function regExpText(result: FlameResult): string | undefined {
  const sentences = expressionsOf(result);
  if (sentences.length > 0) return sentences.join(' ');
  const names = result.functions.flatMap((each) => (each.runsRegExp ? [each.name] : []));
  if (names.length === 0) return undefined;
  return `The own time of ${names.join(', ')} includes a regular expression, on the line with most of it.`;
}

function expressionsOf(result: FlameResult): string[] {
  const { functions, samples } = result;
  return hottest(result, Number.POSITIVE_INFINITY)
    .filter(({ self, name }) => self >= samples * hotShare && sourceOfRegExp(name) !== undefined)
    .slice(0, maxExpressions)
    .map((each) => {
      const source = sourceOfRegExp(each.name)!;
      const shown = source.length > maxSource ? `${source.slice(0, maxSource)}…` : source;
      const callers = callersOf(functions.indexOf(each), result);
      const by = callers.length === 0 ? '' : `, run by ${callers.join(', ')}`;
      return `The regular expression /${shown}/ has ${percent(each.self / samples)} of the time${by}.`;
    });
}

/** Returns the names of the functions with source that are nearest above one in the tree. */
function callersOf(index: number, { tree, functions }: FlameResult): string[] {
  const path: number[] = [];
  const callers = new Set<string>();
  for (const [depth, at] of tree) {
    path[depth] = at;
    if (at !== index) continue;
    // Linux perf has V8's builtins between a function and its expression.
    const caller = path.slice(0, depth).findLast((each) => functions[each]!.place !== '');
    if (caller !== undefined) callers.add(functions[caller]!.name);
  }
  return [...callers];
}

export function unoptimised(result: FlameResult): FlameFunction[] {
  return hottest(result, Number.POSITIVE_INFINITY).filter((each) => each.unoptimised);
}
