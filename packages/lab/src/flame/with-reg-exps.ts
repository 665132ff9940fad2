import type { CallNode, CallTree, TierCounts } from '../profile/call-tree.ts';
import { keyOf } from '../profile/functions.ts';
import { sourceOfRegExp } from '../profile/reg-exp-names.ts';
import { tiers } from '../profile/tiers.ts';

/** The own time of a function, and that of the regular expressions it runs. */
interface Split {
  own: number;
  expressions: Map<string, number>;
}

/**
 * Splits the own time of each function between itself and the regular expressions it runs, which then have frames, as a second
 * profile shows it. The first profile counts an expression as its caller's own time if V8 compiled it before.
 * @param named Tree of a profile with frames for regular expressions.
 */
export function withRegExps(tree: CallTree, named: CallTree): CallTree {
  const splits = collect(named);
  // Rounding leaves a rest, which is carried on to the function's next place in the tree.
  const rests = new Map<string, number>();
  const visit = (node: CallNode): CallNode => {
    const children = node.children.map(visit);
    const key = keyOf(node.frame);
    const split = splits.get(key);
    if (split === undefined) return { ...node, children };
    return divide({ ...node, children }, split, (name, exact) => {
      const id = `${key}\n${name}`;
      const due = exact + (rests.get(id) ?? 0);
      const whole = Math.max(0, Math.floor(due + 1e-9));
      rests.set(id, due - whole);
      return whole;
    });
  };
  return { ...tree, root: visit(tree.root) };
}

function collect(named: CallTree): Map<string, Split> {
  const all = new Map<string, Split>();
  const visit = (node: CallNode, caller: Split | undefined): void => {
    const { frame, self } = node;
    let current = caller;
    if (frame.url !== '') {
      const key = keyOf(frame);
      current = all.get(key) ?? { own: 0, expressions: new Map<string, number>() };
      all.set(key, current);
      current.own += self;
    } else if (current !== undefined && sourceOfRegExp(frame.name) !== undefined) {
      current.expressions.set(frame.name, (current.expressions.get(frame.name) ?? 0) + self);
    }
    for (const child of node.children) visit(child, current);
  };
  visit(named.root, undefined);
  for (const [key, { expressions }] of all) if (expressions.size === 0) all.delete(key);
  return all;
}

function divide(
  node: CallNode,
  { own, expressions }: Split,
  round: (name: string, exact: number) => number,
): CallNode {
  const known = new Map(
    node.children
      .filter(({ frame }) => sourceOfRegExp(frame.name) !== undefined)
      .map((child) => [child.frame.name, child.self]),
  );
  const sum = (counts: Iterable<number>): number => [...counts].reduce((all, one) => all + one, 0);
  const whole = node.self + sum(known.values());
  const wholeOfSplit = own + sum(expressions.values());
  let { self } = node;
  const children = [...node.children];
  for (const [name, samples] of expressions) {
    const exact = (whole * samples) / wholeOfSplit - (known.get(name) ?? 0);
    const moved = Math.min(self, round(name, exact));
    if (moved === 0) continue;
    self -= moved;
    add(children, name, moved);
  }
  return {
    ...node,
    self,
    selfTiers: scaled(node.selfTiers, node.self === 0 ? 0 : self / node.self),
    children: children.toSorted((a, b) => b.total - a.total),
  };
}

function add(children: CallNode[], name: string, samples: number): void {
  const at = children.findIndex(({ frame }) => frame.url === '' && frame.name === name);
  const known = children[at];
  if (known === undefined) {
    const frame = { name, url: '', line: 0, column: 0, owner: 'v8' as const };
    children.push({
      frame,
      total: samples,
      self: samples,
      tiers: {},
      selfTiers: {},
      children: [],
    });
  } else {
    children[at] = { ...known, total: known.total + samples, self: known.self + samples };
  }
}

function scaled(counts: TierCounts, factor: number): TierCounts {
  return Object.fromEntries(
    tiers.flatMap((tier) => {
      const count = Math.floor((counts[tier] ?? 0) * factor + 1e-9);
      return count === 0 ? [] : [[tier, count]];
    }),
  );
}
