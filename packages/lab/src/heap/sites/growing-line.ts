import {
  argumentsOf,
  at,
  bare,
  childrenOf,
  isCall,
  isFunction,
  listAt,
  methodOf,
  nameOf,
  type Node,
  within,
} from '../../doctor/syntax/node.ts';

/** Methods after which a collection, an emitter or a promise holds more than before. */
const adding = new Set(
  `set add push unshift splice append prepend enqueue put insert concat
  on once addListener prependListener prependOnceListener addEventListener subscribe
  then catch finally register track remember`.split(/\s+/),
);
const together = new Set(['race', 'any', 'all', 'allSettled']);

/** Certainty that a node adds to one of the names. */
type Strength = 3 | 2 | 1;

export interface Growing {
  node: Node;
  strength: Strength;
  /** Index of the name: the innermost holder comes first. */
  rank: number;
}

/**
 * Finds the call or assignment that adds to one of the names, which the heap gives for the path to the objects.
 * @param scope The function that allocated, or the whole script.
 * @param names Variables and properties on the path, from the inside out.
 */
export function growingNode(scope: Node, names: readonly string[]): Growing | undefined {
  let best: Growing | undefined;
  for (const node of within(scope)) {
    const found = growing(node, names);
    if (found !== undefined && isBetter(found, best)) best = found;
  }
  return best;
}

export function isBetter(a: Growing, b: Growing | undefined): boolean {
  if (b === undefined) return true;
  return a.strength > b.strength || (a.strength === b.strength && a.rank < b.rank);
}

function growing(node: Node, names: readonly string[]): Growing | undefined {
  const found = (holder: Node | undefined, strength: Strength): Growing | undefined => {
    const rank = names.indexOf(lastName(holder) ?? '');
    return rank < 0 ? undefined : { node, strength, rank };
  };
  if (isCall(node)) {
    const method = methodOf(node);
    if (method !== undefined && adding.has(method.name)) {
      const direct = found(method.object, 3);
      if (direct !== undefined) return direct;
    }
    if (method !== undefined && together.has(method.name)) {
      for (const each of argumentsOf(node).flatMap((list) => listAt(list, 'elements'))) {
        const raced = found(bare(each), 3);
        if (raced !== undefined) return raced;
      }
    }
    return mentioned(node, names);
  }
  if (node.type === 'AwaitExpression') return found(bare(at(node, 'argument')), 2);
  if (node.type !== 'AssignmentExpression') return undefined;
  const target = bare(at(node, 'left'));
  if (target?.type === 'MemberExpression' && target['computed'] === true) {
    return found(bare(at(target, 'object')), 3);
  }
  // `list = [...list, item]`, `head = { next: head }`, `text += more`: a first value is not growth.
  const grown = found(target, 2);
  const name = names[grown?.rank ?? -1];
  const isFromItself =
    node['operator'] !== '=' ||
    [...within(at(node, 'right')!)].some((each) => nameOf(each) === name);
  return isFromItself ? grown : undefined;
}

/** Finds a call that may keep a reference to an argument, such as `{ signal }`. */
function mentioned(call: Node, names: readonly string[]): Growing | undefined {
  for (const argument of argumentsOf(call)) {
    for (const each of withoutFunctions(argument)) {
      const rank = each.type === 'Identifier' ? names.indexOf(nameOf(each)!) : -1;
      if (rank >= 0) return { node: call, strength: 1, rank };
    }
  }
  return undefined;
}

function* withoutFunctions(node: Node): Generator<Node> {
  if (isFunction(node)) return;
  yield node;
  for (const child of childrenOf(node)) yield* withoutFunctions(child);
}

/** Returns `seen` for `this.#seen`, `app.locals.seen` and `seen`. */
function lastName(node: Node | undefined): string | undefined {
  if (node?.type === 'MemberExpression') {
    return node['computed'] === true
      ? lastName(bare(at(node, 'object')))
      : nameOf(at(node, 'property'));
  }
  return nameOf(node);
}

/** Returns the offset to point at: for a chain over several lines the method, not the start. */
export function pointOf(node: Node): number {
  const callee = bare(at(node, 'callee'));
  return callee?.type === 'MemberExpression' ? at(callee, 'property')!.start : node.start;
}

/** Finds the call in a function that led to another, by its name: `setTimeout` in `setTimeout(…)` and `timers.setTimeout(…)`. */
export function callOf(scope: Node, callee: string): Node | undefined {
  const name = callee
    .split('.')
    .at(-1)!
    .replace(/^(new|get|set|async) /, '');
  for (const node of within(scope)) {
    if (isCall(node) && lastName(bare(at(node, 'callee'))) === name) return node;
  }
  return undefined;
}

/** Returns the innermost function around an offset. */
export function functionAround(tree: Node, offset: number): Node | undefined {
  let innermost: Node | undefined;
  for (const node of within(tree)) {
    const isAround = node.start <= offset && offset < node.end;
    if (
      isAround &&
      (isFunction(node) || node.type === 'MethodDefinition' || node.type === 'Property')
    ) {
      innermost = node;
    }
  }
  return innermost;
}
