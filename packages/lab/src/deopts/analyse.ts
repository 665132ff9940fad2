import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { shortPath } from '../flame/summarise-profile.ts';
import { type FunctionCost, functionsOf } from '../profile/functions.ts';
import type { CallTree } from '../profile/call-tree.ts';
import { ownerOfUrl } from '../profile/owner.ts';
import type { SourceMaps } from '../profile/source-maps.ts';
import { type Deopt, type FunctionHistory, TierHistory } from '../profile/tier-history.ts';
import { isOptimised } from '../profile/tiers.ts';
import { type CodeEvent, type Place, scriptOf } from '../profile/v8-log.ts';
import { explain, isBenign } from './reasons.ts';
import type { DeoptFunction, DeoptSite, DeoptsResult } from './result.ts';

/** From this count on, the same place is left again and again. */
const loopFrom = 3;

export interface Observed {
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
