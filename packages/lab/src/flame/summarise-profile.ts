import { fileURLToPath } from 'node:url';
import { relative } from 'node:path';
import type { CallNode, CallTree, Frame } from '../profile/call-tree.ts';
import { functionsOf, keyOf, mainTier, unoptimisedHot } from '../profile/functions.ts';
import { packageOf } from '../profile/package-of.ts';
import type { SourceMaps } from '../profile/source-maps.ts';
import type { FlameFunction, FlameNode, FlameResult } from './result.ts';

/** What the tree may take in a report. The rest of the page is some 60 KB. */
const mostTreeBytes = 160_000;
const mostFunctionBytes = 110_000;

type Summary = Pick<
  FlameResult,
  | 'samples'
  | 'idleSamples'
  | 'seconds'
  | 'tierKnown'
  | 'owners'
  | 'packages'
  | 'tiers'
  | 'functions'
  | 'tree'
  | 'leastSamples'
>;

/**
 * A call tree as the report keeps it. Frames too thin to see are left out until the rest fits: their samples stay in
 * the totals of their callers.
 * @param folder Places are given from here.
 */
export function summariseProfile(tree: CallTree, maps: SourceMaps, folder: string): Summary {
  const places = new Places(maps, folder);
  const all = functionsOf(tree);
  const hot = new Set(unoptimisedHot(all, tree.samples));
  const described = new Map(
    all.map((cost) => {
      const { frame, self, total, selfTiers } = cost;
      const entry: FlameFunction = {
        name: frame.name,
        place: places.of(frame),
        owner: frame.owner,
        self,
        total,
        tiers: selfTiers,
        ...(hot.has(cost) ? { unoptimised: true as const } : {}),
      };
      return [keyOf(frame), entry];
    }),
  );
  for (let leastSamples = 1; ; leastSamples = Math.ceil(leastSamples * 1.5)) {
    const pruned = prune(tree, described, leastSamples);
    const fits =
      JSON.stringify(pruned.tree).length <= mostTreeBytes &&
      JSON.stringify(pruned.functions).length <= mostFunctionBytes;
    if (!fits && leastSamples < tree.samples) continue;
    return {
      samples: tree.samples,
      idleSamples: tree.idleSamples,
      seconds: tree.seconds,
      tierKnown: tree.javaScript.frames === 0 ? 0 : tree.javaScript.known / tree.javaScript.frames,
      ...leafShares(tree.root),
      packages: packageShares(tree.root, places),
      ...pruned,
      leastSamples,
    };
  }
}

function prune(
  tree: CallTree,
  described: Map<string, FlameFunction>,
  leastSamples: number,
): { tree: FlameNode[]; functions: FlameFunction[] } {
  const indexes = new Map<string, number>();
  const functions: FlameFunction[] = [];
  const indexOf = (frame: Frame): number => {
    const key = keyOf(frame);
    let index = indexes.get(key);
    if (index === undefined) {
      index = functions.push(described.get(key) ?? rootFunction(tree)) - 1;
      indexes.set(key, index);
    }
    return index;
  };
  const nodes: FlameNode[] = [];
  const visit = (node: CallNode, depth: number): void => {
    const { ignition = 0, sparkplug = 0, maglev = 0, turbofan = 0 } = node.tiers;
    const index = indexOf(node.frame);
    nodes.push([depth, index, node.total, node.self, ignition, sparkplug, maglev, turbofan]);
    for (const child of node.children) if (child.total >= leastSamples) visit(child, depth + 1);
  };
  visit(tree.root, 0);
  return { tree: nodes, functions };
}

function rootFunction(tree: CallTree): FlameFunction {
  const { name, owner } = tree.root.frame;
  return { name, place: '', owner, self: 0, total: tree.samples, tiers: {} };
}

function leafShares(root: CallNode): Pick<Summary, 'owners' | 'tiers'> {
  const owners = { app: 0, deps: 0, core: 0, v8: 0 };
  const tiers = { ignition: 0, sparkplug: 0, maglev: 0, turbofan: 0, none: 0 };
  const visit = (node: CallNode): void => {
    owners[node.frame.owner] += node.self;
    const tier = mainTier(node.selfTiers);
    let known = 0;
    for (const [name, count] of Object.entries(node.selfTiers)) {
      tiers[name as keyof typeof tiers] += count;
      known += count;
    }
    tiers.none += tier === undefined ? node.self : node.self - known;
    for (const child of node.children) visit(child);
  };
  visit(root);
  return { owners, tiers };
}

/** Of the innermost frame with a file: what Node does for a package is the package's, and for the app nobody's here. */
function packageShares(root: CallNode, places: Places): NonNullable<Summary['packages']> {
  const counts = new Map<string, number>();
  const visit = (node: CallNode, caller: string | undefined): void => {
    const { owner } = node.frame;
    const isOfCaller = owner === 'core' || owner === 'v8';
    const name = isOfCaller ? caller : packageOf(places.of(node.frame))?.name;
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + node.self);
    for (const child of node.children) visit(child, name);
  };
  visit(root, undefined);
  return [...counts]
    .map(([name, samples]) => ({ name, samples }))
    .filter(({ samples }) => samples > 0)
    .toSorted((a, b) => b.samples - a.samples || a.name.localeCompare(b.name));
}

/** Where frames are, as people look for them. */
class Places {
  readonly #maps: SourceMaps;
  readonly #folder: string;

  constructor(maps: SourceMaps, folder: string) {
    this.#maps = maps;
    this.#folder = folder;
  }

  of({ url, line, column }: Frame): string {
    if (url === '') return '';
    const original = this.#maps.original({ url, line, column });
    const path = original.url.startsWith('file://')
      ? fileURLToPath(original.url)
      : decodeURIComponent(original.url);
    const position = line > 0 ? `:${original.line}:${original.column}` : '';
    return shortPath(path, this.#folder) + position;
  }
}

/** From the folder where that is shorter; inside a package from the innermost `node_modules` on. */
export function shortPath(path: string, folder: string): string {
  const modules = path.lastIndexOf('node_modules/');
  if (modules >= 0) return path.slice(modules);
  if (!path.startsWith('/') && !/^[A-Za-z]:\\/.test(path)) return path;
  const fromFolder = relative(folder, path);
  return fromFolder.length < path.length ? fromFolder : path;
}
