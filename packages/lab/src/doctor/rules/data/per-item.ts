import {
  argumentsOf,
  at,
  bare,
  isFunction,
  listAt,
  methodOf,
  nameOf,
  type Node,
  within,
} from '../../syntax/node.ts';
import type { SourceFile } from '../../syntax/source-file.ts';

/** Code that runs once for each item of a list. */
export interface PerItem {
  /** The loop, or the callback of an array method. */
  node: Node;
  body: Node;
  /** A loop runs its awaits one after another; an array method starts all of them at once. */
  isLoop: boolean;
}

const methods = /^(map|forEach|flatMap|filter|some|every|find|reduce)$/;
/** Names for several items at a time, for positions, and for repeated tries. */
const ofSeveral =
  /^(chunks?|batch(es)?|pages?|slices?|parts?|groups?|cursor|offset|skip|attempts?|retry|retries)$|(Chunk|Batch|Page|Group|Slice)$/;

export function* perItemIn(file: SourceFile): Generator<PerItem> {
  for (const node of file.all('ForOfStatement', 'ForInStatement', 'ForStatement')) {
    if (node['await'] === true) continue;
    const head = at(node, 'left') ?? at(node, 'init');
    if (head === undefined || isOfSeveral(head)) continue;
    yield { node, body: at(node, 'body')!, isLoop: true };
  }
  for (const call of file.all('CallExpression')) {
    const method = methodOf(call);
    const fn =
      method !== undefined && methods.test(method.name) ? bare(argumentsOf(call)[0]) : undefined;
    if (!isFunction(fn) || listAt(fn, 'params').some(isOfSeveral)) continue;
    yield { node: fn, body: at(fn, 'body')!, isLoop: false };
  }
}

function isOfSeveral(head: Node): boolean {
  return [...within(head)].some(
    (each) => each.type === 'Identifier' && ofSeveral.test(nameOf(each)!),
  );
}

/** True for an expression with a name that is declared per item. */
export function isOfItem(file: SourceFile, expression: Node, { node }: PerItem): boolean {
  for (const each of within(expression)) {
    if (each.type !== 'Identifier') continue;
    const binding = file.scopes.find(nameOf(each)!, each);
    if (binding === undefined || binding.kind === 'import') continue;
    if (binding.scope.start >= node.start && binding.scope.end <= node.end) return true;
  }
  return false;
}
