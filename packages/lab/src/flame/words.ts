import { fixed, percent, plural, seconds } from '../report/format.ts';
import { stealText } from '../report/words.ts';
import { mainTier } from '../profile/functions.ts';
import { tierMarks } from '../profile/tiers.ts';
import type { FlameFunction, FlameLoad, FlameResult } from './result.ts';

/** Machine, runtime and load, for the head of a page. */
export function factsOf(result: FlameResult): [name: string, value: string][] {
  const { machine, node, load, samples, idleSamples, seconds: taken, tierKnown } = result;
  const packages = packagesText(result);
  return [
    ...(machine === undefined
      ? []
      : ([
          [
            'Machine',
            `${machine.cpuModel}, ${plural(machine.cores, 'core')}, ${machine.memoryGiB} GiB`,
          ],
          ['Kernel, steal', `${machine.kernel}; ${stealText(machine.steal)}`],
          ['Pinning', machine.pinning],
        ] as [string, string][])),
    ...(node === undefined ? [] : ([['Profiled', `Node.js ${node}`]] as [string, string][])),
    ...(load === undefined ? [] : loadFacts(load)),
    ...(packages === undefined
      ? []
      : ([['Packages, with what Node does for them', packages]] as [string, string][])),
    ['Samples', `${fixed(samples)} in ${seconds(taken)}, ${fixed(idleSamples)} more idle`],
    ...(result.tiersAt === undefined
      ? []
      : ([['Tier known', tierKnownText(tierKnown, result.tiersAt)]] as [string, string][])),
  ];
}

/** What is below it says nothing. */
const leastShare = 0.005;
const mostPackages = 8;

/** `pg 50 % · sequelize 20 %`; undefined where no package took time. */
export function packagesText({
  packages = [],
  samples,
}: Pick<FlameResult, 'packages' | 'samples'>): string | undefined {
  const shown = packages
    .filter((each) => each.samples / samples >= leastShare)
    .slice(0, mostPackages)
    .map((each) => `${each.name} ${percent(each.samples / samples)}`);
  return shown.length === 0 ? undefined : shown.join(' · ');
}

/** Of which frames the tier is known, and as of when. */
export function tierKnownText(tierKnown: number, at: 'sample' | 'start'): string {
  const when = at === 'sample' ? 'at the time of each sample' : 'as it was when the profile began';
  return `${percent(tierKnown)} of the JavaScript frames, ${when}`;
}

function loadFacts(load: FlameLoad): [name: string, value: string][] {
  return [
    ['Load', `${plural(load.connections, 'connection')}, closed loop, ${load.generator}`],
    ['Requests', `${load.requests.join(', ')}; ${fixed(load.completed)} completed`],
    [
      'CPU per request',
      `${fixed(load.microsPerRequest, 1)} µs on the main thread; the server used ${percent(load.serverBusy)} of a core`,
    ],
  ];
}

/** `*emit`: the name with the mark of the tier most of its own time was spent in. */
export function markedName({ name, tiers }: FlameFunction): string {
  const tier = mainTier(tiers);
  return tier === undefined ? name : tierMarks[tier] + name;
}

/** Most own time first, without those that only call. */
export function hottest(result: FlameResult, count: number): FlameFunction[] {
  return result.functions
    .filter(({ self, name }) => self > 0 && name !== '(all)')
    .toSorted((a, b) => b.self - a.self)
    .slice(0, count);
}

export function unoptimised(result: FlameResult): FlameFunction[] {
  return hottest(result, Number.POSITIVE_INFINITY).filter((each) => each.unoptimised);
}
