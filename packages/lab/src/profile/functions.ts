import type { CallNode, CallTree, Frame, TierCounts } from './call-tree.ts';
import { type Tier, tiers } from './tiers.ts';

/** A function, regardless of its caller. */
export interface FunctionCost {
  frame: Frame;
  self: number;
  /** Samples with it on the stack, a recursion counted once. */
  total: number;
  /** Tiers in the samples of `self`. */
  selfTiers: TierCounts;
}

/** Functions with a smaller share of the samples are not worth mentioning. */
export const hotShare = 0.01;

/** Returns every function of a tree, most own time first. */
export function functionsOf(tree: CallTree): FunctionCost[] {
  const costs = new Map<string, FunctionCost>();
  const onStack = new Set<string>();
  const visit = (node: CallNode): void => {
    const key = keyOf(node.frame);
    const isOutermost = !onStack.has(key);
    let cost = costs.get(key);
    if (cost === undefined) {
      cost = { frame: node.frame, self: 0, total: 0, selfTiers: {} };
      costs.set(key, cost);
    }
    cost.self += node.self;
    if (isOutermost) cost.total += node.total;
    addTiers(cost.selfTiers, node.selfTiers);
    onStack.add(key);
    for (const child of node.children) visit(child);
    if (isOutermost) onStack.delete(key);
  };
  for (const child of tree.root.children) visit(child);
  return [...costs.values()].toSorted((a, b) => b.self - a.self || b.total - a.total);
}

/** Returns the functions with source that take at least 1 % of the samples themselves, most of them in unoptimised code. */
export function unoptimisedHot(
  functions: readonly FunctionCost[],
  samples: number,
): FunctionCost[] {
  return functions.filter(({ self, selfTiers }) => {
    const slow = (selfTiers.ignition ?? 0) + (selfTiers.sparkplug ?? 0);
    return self >= samples * hotShare && slow > self / 2;
  });
}

/** Returns the tier of most samples; undefined if none is known. */
export function mainTier(counts: TierCounts): Tier | undefined {
  let main: Tier | undefined;
  for (const tier of tiers) {
    if ((counts[tier] ?? 0) > (main === undefined ? 0 : counts[main]!)) main = tier;
  }
  return main;
}

function addTiers(to: TierCounts, from: TierCounts): void {
  for (const tier of tiers) {
    if (from[tier] !== undefined) to[tier] = (to[tier] ?? 0) + from[tier];
  }
}

export function keyOf({ name, url, line, column }: Frame): string {
  return `${name}\n${url}:${line}:${column}`;
}
