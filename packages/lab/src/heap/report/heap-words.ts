import type { Interval } from '../../figures.ts';
import { fixed, percent, plural, signed } from '../../report/format.ts';
import { stealText } from '../../report/words.ts';
import { heldBytes } from '../memory.ts';
import { type HeapResult, type HeapSite, type Step, within } from '../result.ts';
import { stepText } from '../sites/retaining-path.ts';

const units = [
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'kB'],
  [1, 'bytes'],
] as const;

/** Formats a size such as `1.84 MB`: three digits, in decimal units. */
export function sizeText(bytes: number): string {
  const { scale, unit, decimals } = unitFor(Math.abs(bytes));
  return `${fixed(bytes / scale, decimals)}\u00a0${unit}`;
}

function unitFor(bytes: number): { scale: number; unit: string; decimals: number } {
  const [scale, unit] = units.find(([minBytes]) => bytes >= minBytes) ?? units.at(-1)!;
  const value = bytes / scale;
  return { scale, unit, decimals: scale === 1 || value >= 100 ? 0 : value >= 10 ? 1 : 2 };
}

/** Formats growth such as `+1.84 MB [1.80, 1.88]`, in one unit. */
export function growthText(growth: Interval): string {
  return intervalText(growth, signed);
}

function intervalText(
  { value, low, high }: Interval,
  shown: (value: number, decimals: number) => string,
): string {
  const { scale, unit, decimals } = unitFor(Math.max(Math.abs(low), Math.abs(high)));
  const text = (bytes: number): string => fixed(bytes / scale, decimals);
  return `${shown(value / scale, decimals)}\u00a0${unit} [${text(low)},\u00a0${text(high)}]`;
}

export function verdictText({ verdict, growth, leastGrowth }: HeapResult): string {
  if (verdict === 'grows')
    return `grows by ${intervalText(growth.held, fixed)} per 1\u202f000 requests`;
  const found = `no growth within ±\u00a0${sizeText(within(growth.held))} per 1\u202f000 requests`;
  return within(growth.held) > 4 * leastGrowth ? `${found}: more --rounds would narrow it` : found;
}

export interface GrowthRow {
  name: string;
  interval: Interval;
  /** Bytes after the first and the last round. */
  first: number;
  last: number;
}

/** Returns the growth of each kind of memory, with its first and last level. */
export function growthRows({ growth, readings }: HeapResult): GrowthRow[] {
  const [first, last] = [readings[0]!, readings.at(-1)!];
  return [
    {
      name: 'heap and external',
      interval: growth.held,
      first: heldBytes(first),
      last: heldBytes(last),
    },
    {
      name: 'JavaScript heap',
      interval: growth.heap,
      first: first.heapUsed,
      last: last.heapUsed,
    },
    {
      name: 'external, with buffers',
      interval: growth.external,
      first: first.external,
      last: last.external,
    },
    { name: 'resident (RSS)', interval: growth.rss, first: first.rss, last: last.rss },
  ];
}

/** The part of a line in keeping objects. */
export const howWords: Record<HeapSite['how'], string> = {
  adds: 'added to here',
  function: 'the function that is kept',
  calls: 'the call that allocates and keeps',
  allocates: 'the function that allocates',
  unknown: 'no line of the app is involved',
};

export function siteTitle({ place, path }: HeapSite): string {
  return place === '' ? pathText(path.slice(-3)) : place;
}

/** Returns, for example, `Object × 1, string × 2.5`. */
export function kindsText({ kinds }: HeapSite): string {
  return kinds.map(({ name, count }) => `${name} × ${countText(count)}`).join(', ');
}

function countText(count: number): string {
  const rounded = Math.round(count);
  if (rounded > 0 && Math.abs(count - rounded) < 0.03 * count) return fixed(rounded);
  return fixed(count, count >= 9.95 ? 0 : count >= 0.95 ? 1 : 2);
}

function pathText(path: readonly Step[]): string {
  return path.map(stepText).join(' › ');
}

/** Returns the end of the path, because its beginning is the same in every program. */
export function shortPathText({ path }: HeapSite): string {
  const maxSteps = 6;
  return path.length <= maxSteps ? pathText(path) : `… › ${pathText(path.slice(-maxSteps))}`;
}

export function stackText({ stack }: HeapSite, count: number): string {
  return stack
    .slice(0, count)
    .map(({ name, place }) => `${name === '' ? '(anonymous)' : name} ${place}`)
    .join(' < ');
}

export function shareText({ bytes }: HeapSite, { growth }: HeapResult): string {
  return percent(Math.min(1, bytes / growth.held.value));
}

export function roundsText({ load, readings }: HeapResult): string {
  return `${plural(readings.length - 1, 'round')} of ${plural(load.requestsPerRound, 'request')}`;
}

export function factsOf(result: HeapResult): [name: string, value: string][] {
  const { machine, node, load, cost } = result;
  const { collectionMs, snapshotMs, snapshotBytes } = cost;
  return [
    ['Machine', `${machine.cpuModel}, ${plural(machine.cores, 'core')}, ${machine.memoryGiB} GiB`],
    ['Kernel, steal', `${machine.kernel}; ${stealText(machine.steal)}`],
    ['Runtime', `Node.js ${node}`],
    ['Load', `${plural(load.connections, 'connection')}, closed loop; ${load.requests.join(', ')}`],
    ['Rounds', `${roundsText(result)}, after ${plural(load.discarded, 'request')} not counted`],
    ['Full collection', `up to ${fixed(collectionMs)} ms`],
    ...(snapshotMs === undefined
      ? []
      : ([
          [
            'Snapshot',
            `${sizeText(snapshotBytes ?? 0)} in ${fixed(snapshotMs / 1_000, 1)} s, after rounds of ${plural(load.recorded ?? 0, 'request')} with every allocation recorded`,
          ],
        ] as [string, string][])),
  ];
}
