import type { Step } from '../result.ts';
import type { HeapGraph } from '../snapshot/heap-graph.ts';
import { none, pathTo, type RetainingTree } from '../snapshot/retaining-tree.ts';

/** Names internal to V8, which no program sees. */
const inner =
  /^(table|elements|properties|context|map|previous|extension|shared|code|native_context|scope_info|script_context_table|cell|module_)$/;
const longestPeriod = 4;

/**
 * Returns the path to a node in the names of its program, and its nodes. Repeated steps, as in a linked list, are folded into one.
 */
export function pathLabels(
  graph: HeapGraph,
  tree: RetainingTree,
  node: number,
): { nodes: number[]; steps: Step[] } {
  const nodes = pathTo(tree, node);
  const steps: Step[] = [];
  for (const each of nodes) {
    const edge = tree.edgeTo[each]!;
    if (edge === none) continue;
    const step = stepOf(graph, edge, each);
    if (step === undefined) continue;
    steps.push(step);
    collapse(steps);
  }
  return { nodes, steps };
}

function stepOf(graph: HeapGraph, edge: number, node: number): Step | undefined {
  const type = graph.typeOf(node);
  const name = classText(graph.nameOf(node));
  if (type === 'synthetic') return undefined;
  const kind = graph.edgeKind(edge);
  const label = graph.edgeLabel(edge);
  const isElement = kind === 'element' || kind === 'hidden' || /^\d+$/.test(label);
  const shown = isElement ? '[]' : kind === 'internal' && inner.test(label) ? '' : label;
  const isInner =
    type === 'hidden' || type === 'array' || type === 'code' || name.startsWith('system / ');
  // The store of an array, a scope, a table: its name stands for the next step too.
  if (isInner) return shown === '' || shown === '[]' ? undefined : { label: shown, name: '' };
  if (type === 'closure') return { label: shown, name: `${name === '' ? '(anonymous)' : name}()` };
  if (type === 'string') return { label: shown, name: 'string' };
  return { label: shown, name };
}

/** Removes the origin of a page, which V8 adds to the name of its global object; in Node it is empty. */
function classText(name: string): string {
  return name.replace(/ \/ $/, '').replace('global (global*)', 'global');
}

/** Removes the end of a path if it repeats the steps before it. */
function collapse(steps: Step[]): void {
  for (let period = 1; period <= longestPeriod; period++) {
    const from = steps.length - 2 * period;
    if (from < 0) return;
    const isRepeated = steps.slice(from, from + period).every(({ label, name }, index) => {
      const again = steps[from + period + index]!;
      return label === again.label && name === again.name && name !== '';
    });
    if (!isRepeated) continue;
    const times = (steps[from]!.times ?? 0) + 1;
    steps.splice(from + period, period);
    steps[from]!.times = times;
    return;
  }
}

export function stepText({ label, name, times }: Step): string {
  const text = label === '' ? name : name === '' ? label : `${label}: ${name}`;
  return times === undefined ? text : `${text} × ${times + 1}`;
}
