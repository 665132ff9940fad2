import type { AllocatingFunction, HeapGraph } from '../snapshot/heap-graph.ts';
import { none, type RetainingTree } from '../snapshot/retaining-tree.ts';
import type { Step } from '../result.ts';
import { pathLabels } from './retaining-path.ts';

/** New objects that are kept by the same path. */
export interface Survivors {
  /** From the roots to the objects. */
  path: Step[];
  /** Nodes of that path, for the places of its functions. */
  nodes: number[];
  /** One of the objects. */
  example: number;
  /** Bytes of each round. */
  bytes: number[];
  counts: number[];
  /** Objects by class, the most bytes first. */
  kinds: { name: string; count: number; bytes: number }[];
  /** Calls that allocated the outermost of them, the most frequent first, innermost function first. */
  stacks: { functions: AllocatingFunction[]; count: number }[];
}

interface Group {
  example: number;
  /** Label of the edge to its objects; `[]` once there are several labels. */
  label: string;
  bytes: number[];
  counts: number[];
  kinds: Map<string, { count: number; bytes: number }>;
  stacks: Map<number, number>;
}

/**
 * Groups the objects of the rounds that are still reachable by the path to them. An object belongs to the first new one on its path:
 * an entry of a table with everything inside it.
 * @param boundaries Last object id before the first round and after each.
 */
export function survivorsOf(
  graph: HeapGraph,
  tree: RetainingTree,
  boundaries: readonly number[],
): Survivors[] {
  const rounds = boundaries.length - 1;
  const roundOf = roundsOf(graph, tree, boundaries);
  const keys = new Keys(graph, tree);
  const groups = new Map<string, Group>();
  const depth = new Uint8Array(graph.nodeCount);
  const groupOf: (Group | undefined)[] = Array.from({ length: graph.nodeCount });
  for (const node of tree.order) {
    const round = roundOf[node]!;
    if (round === 0) continue;
    const parent = tree.parent[node]!;
    let group = parent === none ? undefined : groupOf[parent];
    if (group === undefined) {
      const key = keys.of(node);
      group = groups.get(key);
      if (group === undefined) {
        group = newGroup(node, rounds);
        groups.set(key, group);
      }
      noteLabel(graph, tree, group, node);
    } else
      depth[node] = isAlike(graph, parent, node)
        ? depth[parent]!
        : Math.min(deepest, depth[parent]! + 1);
    groupOf[node] = group;
    count(graph, group, node, { round, depth: depth[node]! });
  }
  return [...groups.values()].map((group) => describe(graph, tree, group));
}

/** Returns the round in which each node was allocated, from 1; 0 for older ones and V8's own. */
function roundsOf(
  graph: HeapGraph,
  tree: RetainingTree,
  boundaries: readonly number[],
): Uint8Array {
  const roundOf = new Uint8Array(graph.nodeCount);
  const [first = 0] = boundaries;
  const last = boundaries.at(-1) ?? 0;
  for (const node of tree.order) {
    const id = graph.id[node]!;
    if (id <= first) continue;
    if (id > last) {
      // Memory outside of the heap is numbered when the snapshot is taken: its owner has its age.
      const parent = tree.parent[node]!;
      if (parent !== none && graph.typeOf(node) === 'native') roundOf[node] = roundOf[parent]!;
      continue;
    }
    roundOf[node] = boundaries.findIndex((boundary) => id <= boundary);
  }
  return roundOf;
}

function newGroup(example: number, rounds: number): Group {
  return {
    example,
    label: '',
    bytes: Array.from({ length: rounds }, () => 0),
    counts: Array.from({ length: rounds }, () => 0),
    kinds: new Map(),
    stacks: new Map(),
  };
}

/** Notes a label, because `sessions.k1` and `sessions.k2` are keys of a table, not names. */
function noteLabel(graph: HeapGraph, tree: RetainingTree, group: Group, node: number): void {
  const edge = tree.edgeTo[node]!;
  const label = edge === none ? '' : graph.edgeLabel(edge);
  if (group.label === '') group.label = label;
  else if (group.label !== label) group.label = '[]';
}

/** Returns true for the next entry of a linked list, which is not further inside. */
function isAlike(graph: HeapGraph, a: number, b: number): boolean {
  return graph.type[a] === graph.type[b] && graph.name[a] === graph.name[b];
}

const deepest = 100;
/** Objects further inside are often allocated by a parser or a package, far from the line that keeps them. */
const weights = [1, 0.1];
const weightInside = 0.01;

function count(
  graph: HeapGraph,
  group: Group,
  node: number,
  { round, depth }: { round: number; depth: number },
): void {
  const size = graph.selfSize[node]!;
  group.bytes[round - 1]! += size;
  group.counts[round - 1]!++;
  const name = kindOf(graph, node);
  if (name !== undefined) {
    const kind = group.kinds.get(name) ?? { count: 0, bytes: 0 };
    kind.count++;
    kind.bytes += size;
    group.kinds.set(name, kind);
  }
  const trace = graph.trace[node]!;
  if (trace === 0) return;
  const weight = weights[depth] ?? weightInside;
  group.stacks.set(trace, (group.stacks.get(trace) ?? 0) + weight);
}

/** Returns the class of an object; undefined for V8's internal ones. */
function kindOf(graph: HeapGraph, node: number): string | undefined {
  const type = graph.typeOf(node);
  const name = graph.nameOf(node);
  if (type === 'closure') return `${name === '' ? '(anonymous)' : name}()`;
  if (type === 'string' || type === 'concatenated string' || type === 'sliced string')
    return 'string';
  if (type === 'native') return name.replace(/^(system|Node) \/ /, '');
  if (type !== 'object' || name.startsWith('system / ') || name.startsWith('(')) return undefined;
  return name;
}

const maxKinds = 4;
const maxStacks = 5;

function describe(graph: HeapGraph, tree: RetainingTree, group: Group): Survivors {
  const { nodes, steps } = pathLabels(graph, tree, group.example);
  const last = steps.at(-1);
  return {
    path:
      last === undefined || group.label !== '[]' || last.label === ''
        ? steps
        : [...steps.slice(0, -1), { ...last, label: '[]' }],
    nodes,
    example: group.example,
    bytes: group.bytes,
    counts: group.counts,
    kinds: [...group.kinds]
      .map(([name, kind]) => ({ name, ...kind }))
      .toSorted((a, b) => b.bytes - a.bytes)
      .slice(0, maxKinds),
    stacks: stacksOf(graph, group),
  };
}

function stacksOf(graph: HeapGraph, group: Group): Survivors['stacks'] {
  return [...group.stacks]
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, maxStacks)
    .map(([trace, times]) => ({ functions: graph.stackOfTrace(trace), count: times }));
}

/** Names a group by its path, in which all elements of a list and all keys of a table are alike. */
class Keys {
  readonly #graph: HeapGraph;
  readonly #tree: RetainingTree;
  readonly #known = new Map<number, string>();

  constructor(graph: HeapGraph, tree: RetainingTree) {
    this.#graph = graph;
    this.#tree = tree;
  }

  of(node: number): string {
    const parent = this.#tree.parent[node]!;
    return `${this.#pathKey(parent)}\n${this.#class(node)}`;
  }

  #pathKey(node: number): string {
    let key = this.#known.get(node);
    if (key === undefined) {
      key = pathLabels(this.#graph, this.#tree, node)
        .steps.map(({ label, name }) => `${label}:${name}`)
        .join('\n');
      this.#known.set(node, key);
    }
    return key;
  }

  #class(node: number): string {
    const type = this.#graph.typeOf(node);
    return type === 'string' ? type : `${type} ${this.#graph.nameOf(node)}`;
  }
}
