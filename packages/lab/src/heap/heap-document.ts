import {
  type Document,
  estimate,
  figure,
  type Item,
  items,
  name,
  notes,
  plot,
  pointOf,
  type Section,
  source,
  table,
} from '../document/document.ts';
import { code, say, strong, verdict } from '../document/text.ts';
import type { Interval } from '../figures.ts';
import { linearAxis } from '../report/axis.ts';
import { type ColumnText, fixed, percent, plural, range, signed } from '../report/format.ts';
import { markup } from '../report/markup.ts';
import { machineFacts } from '../report/words.ts';
import { heldBytes } from './memory.ts';
import { type HeapResult, type HeapSite, type Step, within } from './result.ts';
import { stepText } from './sites/retaining-path.ts';

/** Shows how much memory grows with the requests, and the lines that keep the objects. */
export function heapDocument(result: HeapResult): Document {
  const { variant, node, sites, verdict: found } = result;
  const grows = found === 'grows';
  const reading = grows ? 'worse' : 'same';
  return {
    ...result,
    label: 'HEAP',
    aside: `${variant}, node ${node}`,
    about: [
      say`${verdict(reading, verdictText(result))}`,
      `${roundsText(result)}, all garbage collected after each`,
    ],
    facts: factsOf(result),
    findings: [
      {
        word: verdict(reading, grows ? 'grows' : 'no growth'),
        text: grows ? `Memory ${verdictText(result)}.` : `Memory: ${verdictText(result)}.`,
      },
      ...sites.slice(0, 3).map((site) => ({
        word: shareText(site, result),
        text: say`of the growth: ${strong(siteTitle(site))} ${code(site.line)} leaves ${kindsText(site)} per request.`,
      })),
    ],
    sections: [growthSection(result), sites.length > 0 && sitesSection(result), rounds(result)],
    method: [
      'Equal rounds of requests are sent over connections that are renewed every 20 requests and closed at the end of a round. Once the process is idle, garbage is collected until another full collection frees nothing.',
      'Growth is the median of the slopes between any two rounds, with the interval of Theil and Sen. It counts if all of the interval is above 16 bytes per request and the later rounds grow too. Then as many rounds again are measured, and only these are reported: a cache that was filling is full by then.',
      'To find the lines, V8 records every allocation during a few more rounds: objects that each of these rounds leaves are the growth. RSS is the figure of the system; it also moves with fragmented free memory.',
      'Not covered: memory that native code allocates without reporting it to V8, except in RSS; worker threads and child processes.',
    ],
  };
}

/** One kind of memory: its growth, and the bytes after the first and the last round. */
interface GrowthRow {
  what: string;
  interval: Interval;
  first: number;
  last: number;
}

function growthSection({ growth, readings, verdict: found }: HeapResult): Section {
  const [first, last] = [readings[0]!, readings.at(-1)!];
  const row = (
    what: string,
    interval: Interval,
    of: (each: typeof first) => number,
  ): GrowthRow => ({
    what,
    interval,
    first: of(first),
    last: of(last),
  });
  const rows = [
    row('heap and external', growth.held, heldBytes),
    row('JavaScript heap', growth.heap, ({ heapUsed }) => heapUsed),
    row('external, with buffers', growth.external, ({ external }) => external),
    row('resident (RSS)', growth.rss, ({ rss }) => rss),
  ];
  const remark =
    found === 'steady'
      ? 'Not excluded: a leak that these requests do not reach, or one smaller than the interval.'
      : 'Sizes are per 1\u202f000 requests, with their share of the growth. A cache that has not reached its limit yet looks the same.';
  return {
    id: 'growth',
    heading: 'Growth',
    parts: [
      table<GrowthRow>(rows, [
        name('memory', ({ what }) => what),
        estimate('per 1\u202f000 requests', ({ interval }) => sizeEstimate(interval, signed)),
        figure('first round', (each) => sizeText(each.first)),
        figure('last', (each) => sizeText(each.last)),
      ]),
      notes([remark]),
    ],
  };
}

function sitesSection(result: HeapResult): Section {
  return {
    id: 'sites',
    heading: 'What stays, and the line that keeps it',
    lead: 'Objects that were allocated while allocations were recorded and are still reachable, by the line of the app that keeps them. Sizes are per 1\u202f000 requests.',
    parts: [items(result.sites.map((site) => siteItem(site, result)))],
  };
}

function siteItem(site: HeapSite, result: HeapResult): Item {
  const { functionName, line, how, path, stack } = site;
  const calls = stack.map((each) => ({ place: each.place, name: each.name || '(anonymous)' }));
  const allocated = calls.slice(0, 3).map((each) => `${each.name} ${each.place}`);
  return {
    title: say`${code(siteTitle(site))}${functionName === '' ? '' : `  ${functionName}`}`,
    aside: `${sizeText(site.bytes)} · ${shareText(site, result)}`,
    lines: [
      line !== '' && source(line),
      `${howWords[how]}; each request leaves ${kindsText(site)}`,
      {
        text: say`kept by ${code(shortPathText(path))}`,
        page: markup`<p>kept by, from the roots on</p><ol>${path.map((step) => markup`<li><code>${stepText(step)}</code></li>`)}</ol>`,
      },
      calls.length > 0 && {
        text: say`allocated in ${code(allocated.join(' < '))}`,
        page: markup`<details><summary>allocated in</summary><ol>${calls.map((each) => markup`<li><code>${each.name}</code> ${each.place}</li>`)}</ol></details>`,
      },
    ],
  };
}

function rounds({ readings }: HeapResult): Section {
  const held = readings.map((each) => heldBytes(each) / 1e6);
  const rows = readings.map((each, round) => ({ ...each, round }));
  return {
    id: 'rounds',
    heading: 'Memory after each round',
    lead: 'MB, with all garbage collected. The bar is heap and external memory.',
    parts: [
      table<(typeof rows)[number]>(
        rows,
        [
          name('round', ({ round }) => (round === 0 ? 'before' : `round ${round}`), {
            width: '9em',
          }),
          figure('requests', ({ requests }) => fixed(requests)),
          figure('heap', ({ heapUsed }) => fixed(heapUsed / 1e6, 2)),
          figure('external', ({ external }) => fixed(external / 1e6, 2)),
          figure('RSS', ({ rss }) => fixed(rss / 1e6, 1)),
          plot(
            '',
            linearAxis(held),
            ({ round, requests }) => ({
              title: `round ${round}`,
              text: `${fixed(held[round]!, 2)} MB after ${fixed(requests)} requests`,
              estimate: pointOf(held[round]!),
            }),
            { bars: true },
          ),
        ],
        { in: ['page'] },
      ),
    ],
  };
}

const units = [
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'kB'],
  [1, 'bytes'],
] as const;

/** Formats a size such as `1.84 MB`: three digits, in decimal units. */
function sizeText(bytes: number): string {
  const { scale, unit, decimals } = unitFor(Math.abs(bytes));
  return `${fixed(bytes / scale, decimals)}\u00a0${unit}`;
}

function unitFor(bytes: number): { scale: number; unit: string; decimals: number } {
  const [scale, unit] = units.find(([minBytes]) => bytes >= minBytes) ?? units.at(-1)!;
  const value = bytes / scale;
  return { scale, unit, decimals: scale === 1 || value >= 100 ? 0 : value >= 10 ? 1 : 2 };
}

/** Formats an interval such as `+1.84 MB` and `[1.80, 1.88]`, in one unit. */
function sizeEstimate(
  { value, low, high }: Interval,
  shown: (value: number, decimals: number) => string,
): ColumnText {
  const { scale, unit, decimals } = unitFor(Math.max(Math.abs(low), Math.abs(high)));
  return {
    value: `${shown(value / scale, decimals)}\u00a0${unit}`,
    pad: '',
    range: range({ low: low / scale, high: high / scale }, decimals),
  };
}

function verdictText({ verdict: found, growth, leastGrowth }: HeapResult): string {
  const heldGrowth = sizeEstimate(growth.held, fixed);
  if (found === 'grows')
    return `grows by ${heldGrowth.value} ${heldGrowth.range} per 1\u202f000 requests`;
  const none = `no growth within ±\u00a0${sizeText(within(growth.held))} per 1\u202f000 requests`;
  return within(growth.held) > 4 * leastGrowth ? `${none}: more --rounds would narrow it` : none;
}

/** The part of a line in keeping objects. */
const howWords: Record<HeapSite['how'], string> = {
  adds: 'added to here',
  function: 'the function that is kept',
  calls: 'the call that allocates and keeps',
  allocates: 'the function that allocates',
  unknown: 'no line of the app is involved',
};

function siteTitle({ place, path }: HeapSite): string {
  return place === '' ? pathText(path.slice(-3)) : place;
}

/** Returns, for example, `Object × 1, string × 2.5`. */
function kindsText({ kinds }: HeapSite): string {
  return kinds.map((kind) => `${kind.name} × ${countText(kind.count)}`).join(', ');
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
function shortPathText(path: readonly Step[]): string {
  const maxSteps = 6;
  return path.length <= maxSteps ? pathText(path) : `… › ${pathText(path.slice(-maxSteps))}`;
}

function shareText({ bytes }: HeapSite, { growth }: HeapResult): string {
  return percent(Math.min(1, bytes / growth.held.value));
}

function roundsText({ load, readings }: HeapResult): string {
  return `${plural(readings.length - 1, 'round')} of ${plural(load.requestsPerRound, 'request')}`;
}

function factsOf(result: HeapResult): Document['facts'] {
  const { machine, node, load, cost } = result;
  const { collectionMs, snapshotMs, snapshotBytes } = cost;
  return [
    ...machineFacts(machine),
    ['Runtime', `Node.js ${node}`],
    ['Load', `${plural(load.connections, 'connection')}, closed loop; ${load.requests.join(', ')}`],
    ['Rounds', `${roundsText(result)}, after ${plural(load.discarded, 'request')} not counted`],
    ['Full collection', `up to ${fixed(collectionMs)} ms`],
    snapshotMs !== undefined && [
      'Snapshot',
      `${sizeText(snapshotBytes ?? 0)} in ${fixed(snapshotMs / 1_000, 1)} s, after rounds of ${plural(load.recorded ?? 0, 'request')} with every allocation recorded`,
    ],
  ];
}
