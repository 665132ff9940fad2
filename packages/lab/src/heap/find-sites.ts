import { fileURLToPath } from 'node:url';
import { shortPath } from '../flame/summarise-profile.ts';
import { type Position, SourceMaps } from '../profile/source-maps.ts';
import type { HeapApp } from './app.ts';
import type { HeapSite } from './result.ts';
import { type Located, locate } from './sites/locate.ts';
import { ScriptSources } from './sites/script-source.ts';
import { type Survivors, survivorsOf } from './sites/survivors.ts';
import { retainingTree } from './snapshot/retaining-tree.ts';
import type { TrackedHeap } from './track.ts';

export interface FoundSites {
  sites: HeapSite[];
  /** Bytes per 1,000 requests of everything that stayed, named or not. */
  stayed: number;
}

const maxSites = 8;
/** Below this share of all that stays, a site is not named. */
const minShare = 0.03;
const maxFrames = 8;

/**
 * Groups the objects that stay of the recorded rounds by the line that keeps them.
 * @param requests Requests in each round.
 */
export async function findSites(
  app: HeapApp,
  { graph, boundaries }: Pick<TrackedHeap, 'graph' | 'boundaries'>,
  requests: number,
): Promise<FoundSites> {
  const tree = retainingTree(graph);
  const staying = survivorsOf(graph, tree, boundaries).filter(stays);
  const bytes = (each: Survivors): number => bytesPerThousand(each, requests);
  const stayed = staying.reduce((sum, each) => sum + bytes(each), 0);
  const large = staying
    .filter((each) => bytes(each) >= stayed * minShare)
    .toSorted((a, b) => bytes(b) - bytes(a));
  const sources = await ScriptSources.open(app.inspector);
  const sites = new Map<string, HeapSite>();
  for (const each of large.slice(0, 4 * maxSites)) {
    const found = await locate(graph, each, sources);
    const site = siteOf(app, each, { found, requests });
    const known = sites.get(site.place || pathKey(site));
    if (known === undefined) sites.set(site.place || pathKey(site), site);
    else known.bytes += site.bytes;
  }
  await sources.close();
  return {
    sites: [...sites.values()].toSorted((a, b) => b.bytes - a.bytes).slice(0, maxSites),
    stayed,
  };
}

/** Returns the rounds before the last: objects of the last one may still be replaced. */
function early<Item>(rounds: readonly Item[]): readonly Item[] {
  return rounds.slice(0, -1);
}

const minShareOfRound = 0.4;

/** Returns true if all rounds left objects: a list of the latest hundred requests has those of the last round alone. */
function stays({ counts }: Survivors): boolean {
  const max = Math.max(...counts);
  return counts.every((count) => count >= max * minShareOfRound);
}

function bytesPerThousand({ bytes }: Survivors, requests: number): number {
  const rounds = early(bytes);
  return (rounds.reduce((sum, each) => sum + each, 0) / (rounds.length * requests)) * 1_000;
}

function siteOf(
  { folder }: HeapApp,
  survivors: Survivors,
  { found, requests }: { found: Located | undefined; requests: number },
): HeapSite {
  const all = requests * survivors.counts.length;
  return {
    place: found === undefined ? '' : placeText(found.position, folder),
    line: found?.text ?? '',
    how: found?.how ?? 'unknown',
    functionName: found?.functionName ?? '',
    bytes: bytesPerThousand(survivors, requests),
    kinds: survivors.kinds.map(({ name, count }) => ({ name, count: count / all })),
    path: survivors.path,
    stack: stackOf(survivors, folder),
  };
}

const maps = new SourceMaps();

function stackOf({ stacks }: Survivors, folder: string): HeapSite['stack'] {
  const [largest] = stacks;
  return (largest?.functions ?? [])
    .filter(({ url }) => url !== '')
    .slice(0, maxFrames)
    .map(({ name, ...position }) => ({ name, place: placeText(maps.original(position), folder) }));
}

function placeText({ url, line, column }: Position, folder: string): string {
  const path = url.startsWith('file://') ? fileURLToPath(url) : url;
  return `${shortPath(path, folder)}:${line}:${column}`;
}

function pathKey({ path }: HeapSite): string {
  return path.map(({ label, name }) => `${label}:${name}`).join('\n');
}
