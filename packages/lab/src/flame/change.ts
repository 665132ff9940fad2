import { microsPerSampleOf } from './graph-data.ts';
import { fileOf, renamedFiles } from './renamed-files.ts';
import type { FlameFunction, FlameNode, FlameResult } from './result.ts';

/** The change of a function's own time, with its sampling error. */
export interface FunctionChange {
  name: string;
  place: string;
  owner: FlameFunction['owner'];
  /** µs of main-thread CPU per request; shares of the samples if either run has no load. */
  before: number;
  after: number;
  /** 95 % interval of after − before, for the sampling error alone. */
  low: number;
  high: number;
}

export interface ProfileChange {
  /** Unit of the figures: µs per request, or shares of the samples. */
  unit: 'micros' | 'share';
  /** Largest change first. */
  functions: FunctionChange[];
  whole: { before: number; after: number };
}

export const changeKinds = { same: 0, less: 1, more: 2 } as const;

/**
 * Compares two profiles function by function, by name and file: lines move when code is edited, and a file may have another name.
 */
export function compareProfiles(before: FlameResult, after: FlameResult): ProfileChange {
  const hasLoad = before.load !== undefined && after.load !== undefined;
  const scaleBefore = hasLoad ? microsPerSampleOf(before) : 1 / before.samples;
  const scaleAfter = hasLoad ? microsPerSampleOf(after) : 1 / after.samples;
  const renamed = renamedFiles(before.functions, after.functions);
  const earlier = byKey(before.functions);
  const later = byKey(after.functions, renamed);
  const functions = [...new Set([...earlier.keys(), ...later.keys()])].map((key) => {
    const old = earlier.get(key);
    const now = later.get(key);
    const { name, place, owner } = (now ?? old)!;
    const a = (old?.self ?? 0) * scaleBefore;
    const b = (now?.self ?? 0) * scaleAfter;
    const half = halfWidth(old?.self ?? 0, scaleBefore, now?.self ?? 0, scaleAfter);
    return { name, place, owner, before: a, after: b, low: b - a - half, high: b - a + half };
  });
  return {
    unit: hasLoad ? 'micros' : 'share',
    functions: functions.toSorted(
      (a, b) => Math.abs(b.after - b.before) - Math.abs(a.after - a.before),
    ),
    whole: { before: before.samples * scaleBefore, after: after.samples * scaleAfter },
  };
}

/** Returns half the 95 % interval. Samples are counts: the variance of each is the count itself, or about one if none was seen. */
function halfWidth(a: number, scaleA: number, b: number, scaleB: number): number {
  return 1.96 * Math.sqrt(Math.max(1, a) * scaleA ** 2 + Math.max(1, b) * scaleB ** 2);
}

export function kindOf({
  low,
  high,
}: Pick<FunctionChange, 'low' | 'high'>): keyof typeof changeKinds {
  return high < 0 ? 'less' : low > 0 ? 'more' : 'same';
}

/** Merges the functions of one name in a file. */
function byKey(
  functions: readonly FlameFunction[],
  renamed?: ReadonlyMap<string, string>,
): Map<string, FlameFunction> {
  const merged = new Map<string, FlameFunction>();
  for (const each of functions) {
    if (each.name === '(all)') continue;
    const key = changeKey(each, renamed);
    const known = merged.get(key);
    merged.set(key, known === undefined ? each : { ...known, self: known.self + each.self });
  }
  return merged;
}

function changeKey(
  { name, place }: Pick<FlameFunction, 'name' | 'place'>,
  renamed?: ReadonlyMap<string, string>,
): string {
  const file = fileOf({ place });
  return `${name} ${renamed?.get(file) ?? file}`;
}

/**
 * Returns the later tree, each node with the samples of the same chain of callers before:
 * `[depth, function, total, self, totalBefore, selfBefore, kind, 0]`.
 */
export function changeTree(before: FlameResult, after: FlameResult): FlameNode[] {
  const hasLoad = before.load !== undefined && after.load !== undefined;
  const scaleBefore = hasLoad ? microsPerSampleOf(before) : 1 / before.samples;
  const scaleAfter = hasLoad ? microsPerSampleOf(after) : 1 / after.samples;
  const nodes: FlameNode[] = [];
  const visit = (node: Merged, old: Merged | undefined, depth: number): void => {
    const { total, self } = node;
    const { total: totalBefore = 0, self: selfBefore = 0 } = old ?? {};
    const change = total * scaleAfter - totalBefore * scaleBefore;
    const half = halfWidth(totalBefore, scaleBefore, total, scaleAfter);
    const kind = kindOf({ low: change - half, high: change + half });
    nodes.push([depth, node.index, total, self, totalBefore, selfBefore, changeKinds[kind], 0]);
    const heaviest = [...node.children].toSorted((a, b) => b[1].total - a[1].total);
    for (const [key, child] of heaviest) visit(child, old?.children.get(key), depth + 1);
  };
  const renamed = renamedFiles(before.functions, after.functions);
  visit(merge(after, renamed), merge(before), 0);
  return nodes;
}

interface Merged {
  index: number;
  total: number;
  self: number;
  children: Map<string, Merged>;
}

/** Builds a tree in which siblings of one name and file are merged. */
function merge({ tree, functions }: FlameResult, renamed?: ReadonlyMap<string, string>): Merged {
  const root: Merged = { index: 0, total: 0, self: 0, children: new Map() };
  const stack: Merged[] = [];
  for (const [depth, index, total, self] of tree) {
    const parent = stack[depth - 1];
    let node = root;
    if (parent !== undefined) {
      const key = changeKey(functions[index]!, renamed);
      node = parent.children.get(key) ?? { index, total: 0, self: 0, children: new Map() };
      parent.children.set(key, node);
    }
    node.index = index;
    node.total += total;
    node.self += self;
    stack[depth] = node;
  }
  return root;
}
