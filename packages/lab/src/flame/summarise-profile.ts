import { fileURLToPath } from 'node:url';
import { relative } from 'node:path';
import type { CallNode, CallTree, Frame } from '../profile/call-tree.ts';
import { functionsOf, keyOf, mainTier, unoptimisedHot } from '../profile/functions.ts';
import { packageOf } from '../profile/package-of.ts';
import type { SourceMaps } from '../profile/source-maps.ts';
import type { FlameFunction, FlameNode, FlameResult } from './result.ts';
import { functionsWithRegExp, mostlyRegExps } from './runs-reg-exp.ts';

/** Max size of the tree in a report. The rest of the page takes some 60 KB. */
const maxTreeBytes = 160_000;
const maxFunctionBytes = 110_000;

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
 * Summarises a call tree for the report. Frames too thin to see are left out until the rest fits: their samples stay in the totals
 * of their callers.
 * @param folder Places are given relative to this folder.
 * @param lines The line with the most ticks of each function, if regular expressions have no frames.
 */
export function summariseProfile(
  tree: CallTree,
  maps: SourceMaps,
  folder: string,
  lines: ReadonlyMap<string, number> = new Map(),
): Summary {
  const places = new Places(maps, folder);
  const all = functionsOf(tree);
  const withRegExp = new Set(
    functionsWithRegExp(tree, maps, lines).map(({ frame }) => keyOf(frame)),
  );
  const ofRegExps = new Set([...withRegExp, ...mostlyRegExps(tree)]);
  // The time is spent in the regular expression: V8 has nothing to optimise in the function.
  const hot = new Set(
    unoptimisedHot(all, tree.samples).filter(({ frame }) => !ofRegExps.has(keyOf(frame))),
  );
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
        ...(withRegExp.has(keyOf(frame)) ? { runsRegExp: true as const } : {}),
      };
      return [keyOf(frame), entry];
    }),
  );
  for (let minSamples = 1; ; minSamples = Math.ceil(minSamples * 1.5)) {
    const pruned = prune(tree, described, minSamples);
    const fits =
      JSON.stringify(pruned.tree).length <= maxTreeBytes &&
      JSON.stringify(pruned.functions).length <= maxFunctionBytes;
    if (!fits && minSamples < tree.samples) continue;
    return {
      samples: tree.samples,
      idleSamples: tree.idleSamples,
      seconds: tree.seconds,
      tierKnown: tree.javaScript.frames === 0 ? 0 : tree.javaScript.known / tree.javaScript.frames,
      ...leafShares(tree.root),
      packages: packageShares(tree.root, places),
      ...pruned,
      leastSamples: minSamples,
    };
  }
}

function prune(
  tree: CallTree,
  described: Map<string, FlameFunction>,
  minSamples: number,
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
    for (const child of node.children) if (child.total >= minSamples) visit(child, depth + 1);
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

/**
 * Counts by the package of the innermost frame with a file: Node's work for a package is the package's, its work for the app is not
 * counted.
 */
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

/** Formats the places of frames for the reports. */
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

/** Returns the path from the folder if that is shorter; inside a package, the path from the innermost `node_modules` on. */
export function shortPath(path: string, folder: string): string {
  const modules = path.lastIndexOf('node_modules/');
  if (modules >= 0) return path.slice(modules);
  if (!path.startsWith('/') && !/^[A-Za-z]:\\/.test(path)) return path;
  const fromFolder = relative(folder, path);
  return fromFolder.length < path.length ? fromFolder : path;
}
