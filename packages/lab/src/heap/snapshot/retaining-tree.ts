import type { HeapGraph } from './heap-graph.ts';

/** The shortest path of strong edges from the roots to each reachable node. */
export interface RetainingTree {
  /** Edge that leads to a node; `none` for the root and unreachable nodes. */
  edgeTo: Uint32Array;
  /** Node that the edge comes from. */
  parent: Uint32Array;
  /** Nodes in the order in which they were reached. */
  order: Uint32Array;
}

export const none = 0xffff_ffff;

/** Roots of V8's caches and of the inspector: any other path says more. */
const lastResorts =
  /^\((Compilation cache|Internalized strings|Read-only roots|Strong roots|Code flusher|Traced handles|Stack roots|Handle scope|Micro tasks|Retain maps|Weak collections)\)$/;

/** Searches breadth first; nodes that only a last resort keeps come last. */
export function retainingTree(graph: HeapGraph): RetainingTree {
  const { nodeCount } = graph;
  const edgeTo = new Uint32Array(nodeCount).fill(none);
  const parent = new Uint32Array(nodeCount).fill(none);
  const order = new Uint32Array(nodeCount);
  const seen = new Uint8Array(nodeCount);
  const weak = graph.edgeTypes.indexOf('weak');
  const shortcut = graph.edgeTypes.indexOf('shortcut');
  const deferred: number[] = [];
  let [reached, next] = [1, 0];
  seen[0] = 1;
  const walk = (): void => {
    while (next < reached) {
      const node = order[next++]!;
      if (isLastResort(graph, node)) {
        deferred.push(node);
        continue;
      }
      reached = reach(node, reached);
    }
  };
  const reach = (node: number, from: number): number => {
    let count = from;
    const end = graph.firstEdge[node + 1]!;
    for (let edge = graph.firstEdge[node]!; edge < end; edge++) {
      const type = graph.edgeType[edge];
      // The root's shortcuts lead to the global objects; other shortcuts repeat another edge.
      if (type === weak || (type === shortcut && node !== 0)) continue;
      const to = graph.edgeTo[edge]!;
      if (seen[to] === 1) continue;
      seen[to] = 1;
      edgeTo[to] = edge;
      parent[to] = node;
      order[count++] = to;
    }
    return count;
  };
  walk();
  for (const node of deferred) {
    reached = reach(node, reached);
    walk();
  }
  return { edgeTo, parent, order: order.subarray(0, reached) };
}

function isLastResort(graph: HeapGraph, node: number): boolean {
  return graph.typeOf(node) === 'synthetic' && lastResorts.test(graph.nameOf(node));
}

/** Returns the nodes from the root to the given one, both included; empty for `none`. */
export function pathTo({ parent }: RetainingTree, node: number): number[] {
  const path: number[] = [];
  for (let at = node; at !== none; at = parent[at]!) path.push(at);
  return path.toReversed();
}
