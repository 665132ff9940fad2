import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { shortPath } from '../flame/summarise-profile.ts';
import { type FunctionCost, functionsOf } from '../profile/functions.ts';
import type { CallTree } from '../profile/call-tree.ts';
import { ownerOfUrl } from '../profile/owner.ts';
import type { SourceMaps } from '../profile/source-maps.ts';
import { type Deopt, type FunctionHistory, TierHistory } from '../profile/v8/tier-history.ts';
import { isOptimised } from '../profile/tiers.ts';
import { type CodeEvent, type Place, scriptOf } from '../profile/v8/v8-log.ts';
import type { DeoptFunction, DeoptSite, DeoptsResult } from './result.ts';

/** From this count on, the same place is left again and again. */
const loopFrom = 3;

interface Observed {
  events: readonly CodeEvent[];
  /** Start of the load that counts, in µs of the log's clock. */
  loadBeganMicros?: number | undefined;
  /** The profile, which gives the own times. */
  tree?: CallTree | undefined;
  maps: SourceMaps;
  /** Places are given relative to this folder. */
  folder: string;
}

type Analysis = Pick<DeoptsResult, 'functions' | 'benign' | 'endedAt' | 'loadBegan'>;

/** Lists the functions whose optimised code V8 discarded, why and where: the app's own first, each group by its own time. */
export function analyse({ events, loadBeganMicros, tree, maps, folder }: Observed): Analysis {
  const history = new TierHistory();
  for (const event of events) history.apply(event);
  const endMicros = events.reduce(
    (last, event) => ('micros' in event ? Math.max(last, event.micros) : last),
    -1,
  );
  const halfMicros = ((loadBeganMicros ?? 0) + endMicros) / 2;
  const costs = tree === undefined ? undefined : costsByPlace(tree);
  const place = (at: Place): string => placeText(at, maps, folder);
  let benign = 0;
  const functions: DeoptFunction[] = [];
  for (const each of history.functions.values()) {
    const deopts = each.changes.filter((change) => change.deopt !== undefined);
    const relevant = deopts.filter(({ deopt }) => !isBenign(deopt!.reason));
    benign += deopts.length - relevant.length;
    if (relevant.length === 0) continue;
    const sites = sitesOf(relevant, place, maps);
    const cost = costs?.get(keyOf(each.place));
    functions.push({
      name: each.name === '' ? '(anonymous)' : each.name,
      place: place(each.place),
      owner: ownerOfUrl(each.place.url),
      ...(tree === undefined ? {} : { own: (cost?.self ?? 0) / tree.samples }),
      now: each.tier,
      optimised: each.changes.filter(({ tier, deopt }) => !deopt && isOptimised(tier)).length,
      isLoop: sites.some(({ times }) => times >= loopFrom),
      isStillGoing: relevant.length > 1 && relevant.at(-1)!.micros > halfMicros && endMicros > 0,
      sites,
      history: stepsOf(each),
    });
  }
  return {
    functions: functions.toSorted(byOwnerAndTime),
    benign,
    ...(endMicros > 0 ? { endedAt: endMicros / 1e6 } : {}),
    ...(loadBeganMicros === undefined ? {} : { loadBegan: loadBeganMicros / 1e6 }),
  };
}

/** Orders by own time, the app's functions first. Without a profile, the number of deopts stands for the time they cost. */
function byOwnerAndTime(a: DeoptFunction, b: DeoptFunction): number {
  const isOther = ({ owner }: DeoptFunction): number => Number(owner !== 'app');
  const times = ({ sites }: DeoptFunction): number =>
    sites.reduce((sum, site) => sum + site.times, 0);
  return (
    isOther(a) - isOther(b) ||
    (b.own ?? 0) - (a.own ?? 0) ||
    times(b) - times(a) ||
    a.name.localeCompare(b.name)
  );
}

function sitesOf(
  changes: readonly { micros: number; deopt?: Deopt }[],
  place: (at: Place) => string,
  maps: SourceMaps,
): DeoptSite[] {
  const sites = new Map<string, DeoptSite>();
  for (const { micros, deopt } of changes) {
    const { reason, kind, from, stack } = deopt!;
    const places = stack.map(place);
    const key = [reason, ...places].join('\n');
    let site = sites.get(key);
    if (site === undefined) {
      const source = stack[0] === undefined ? undefined : sourceLine(stack[0], maps);
      const explanation = explain(reason);
      site = {
        reason,
        kind,
        from,
        times: 0,
        place: places[0] ?? '',
        inlinedAt: places.slice(1),
        ...(source === undefined ? {} : { source }),
        ...(explanation === undefined ? {} : { explanation }),
      };
      sites.set(key, site);
    }
    site.times++;
    site.from = from;
    if (micros >= 0) site.lastSeconds = micros / 1e6;
  }
  return [...sites.values()].toSorted((a, b) => b.times - a.times);
}

function stepsOf({ changes }: FunctionHistory): DeoptFunction['history'] {
  return changes.map(({ micros, tier, deopt }) => ({
    ...(micros < 0 ? {} : { seconds: micros / 1e6 }),
    tier,
    ...(deopt === undefined ? {} : { deopt: deopt.reason }),
  }));
}

function costsByPlace(tree: CallTree): Map<string, FunctionCost> {
  return new Map(
    functionsOf(tree)
      .filter(({ frame }) => frame.url !== '')
      .map((cost) => [keyOf(cost.frame), cost]),
  );
}

function keyOf({ url, line, column }: Place): string {
  return `${scriptOf(url)}:${line}:${column}`;
}

function placeText(at: Place, maps: SourceMaps, folder: string): string {
  const { url, line, column } = maps.original(at);
  return `${shortPath(pathOf(url), folder)}:${line}:${column}`;
}

function pathOf(url: string): string {
  return url.startsWith('file://') ? fileURLToPath(url) : url;
}

/** Returns the line itself; Node's own sources are not on disk. */
function sourceLine(at: Place, maps: SourceMaps): DeoptSite['source'] {
  const { url, line, column } = maps.original(at);
  try {
    const text = readFileSync(pathOf(url), 'utf8').split('\n')[line - 1];
    return text === undefined || text.length > 400 ? undefined : { text, column };
  } catch {
    return undefined;
  }
}

/** Exits from optimised code that V8 makes on purpose: user code cannot and need not avoid them. */
const benignReasons = [
  'prepare for on stack replacement',
  'exit from OSR',
  // Attaching a debugger or a profiler that steps.
  'debugger',
];

export function isBenign(reason: string): boolean {
  return benignReasons.some((benign) => reason.toLowerCase().includes(benign.toLowerCase()));
}

const explanations: [pattern: RegExp, text: string][] = [
  [
    /insufficient type feedback for (binary operation|compare operation|unary operation)/i,
    'This operation had not run yet when the function was optimised, so V8 had no types for it: a branch was taken for the first time. An expression that runs every time keeps its types: (val >= 10 ? "" : "0") + val in place of val >= 10 ? val : "0" + val, which also returns one type instead of two.',
  ],
  [
    /insufficient type feedback/i,
    'This place had not run yet when the function was optimised, so V8 had no data on it: a branch was taken for the first time. Once is normal. If it recurs, move the rare case into its own function.',
  ],
  [
    /wrong (map|call target|instance type)|map mismatch|(wrong|unexpected) (receiver|enum)/i,
    'An object had a different shape, or a different function was called, than ever before. Create such objects with the same properties in the same order, in one place, and do not add or delete any later.',
  ],
  [
    /not a (smi|small integer)|^smi$|overflow|lost precision|minus zero|nan|hole/i,
    'A number left the range the code was compiled for: a small integer became a fraction, −0, NaN, or too large, or an array has a hole. Keep one kind of number per variable and array; fill arrays from the start.',
  ],
  [
    /not a (heap ?number|number|string|symbol|boolean|bigint|number or oddball|js ?receiver|detached)|not an array index|not internalized/i,
    'A value had a type not seen before. Give the variable, argument or return value one type.',
  ],
  [
    /out of bounds|not within/i,
    'An index lay outside the array or string: V8 handles that only after seeing it once. Compare with length before reading.',
  ],
  [/division by zero/i, 'The divisor was 0 for the first time. Test for it before dividing.'],
  [
    /unknown|dependency|constant|prototype|weak/i,
    'Something the code relied on changed elsewhere: a variable that had been constant, a prototype, an extended class. Finish set-up before the load arrives.',
  ],
];

/** Returns the meaning of a reason; undefined for an unknown one. */
export function explain(reason: string): string | undefined {
  return explanations.find(([pattern]) => pattern.test(reason))?.[1];
}
