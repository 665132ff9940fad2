import type { Rule } from 'eslint';
import type * as ESTree from 'estree';

/** A node with its parent, as rules receive it. */
export type Node = ESTree.Node & { parent?: Node };
export type FunctionNode = (
  | ESTree.FunctionDeclaration
  | ESTree.FunctionExpression
  | ESTree.ArrowFunctionExpression
) &
  Rule.NodeParentExtension;
export type Context = Rule.RuleContext;

export function parentOf(node: ESTree.Node): Node | undefined {
  return (node as Node).parent ?? undefined;
}

/** Yields the node itself and all its ancestors. */
export function* selfAndAncestors(node: ESTree.Node): Generator<Node> {
  for (let at: Node | undefined = node as Node; at; at = parentOf(at)) yield at;
}

export function isFunction(node: ESTree.Node | null | undefined): node is FunctionNode {
  return node != null && /^(?:Function(?:Declaration|Expression)|Arrow)/.test(node.type);
}

export function isLoop(node: ESTree.Node): boolean {
  return /^(?:For|While|DoWhile)/.test(node.type);
}

export function enclosingFunction(node: ESTree.Node): FunctionNode | undefined {
  for (const above of selfAndAncestors(node)) if (above !== node && isFunction(above)) return above;
  return undefined;
}

/** True in a loop of the same function, or in a callback that an array method calls for each element. */
export function isInLoop(node: ESTree.Node): boolean {
  for (const above of selfAndAncestors(node)) {
    if (isLoop(above)) return true;
    if (!isFunction(above)) continue;
    const call = parentOf(above);
    return call?.type === 'CallExpression' && methodCall(call, 'forEach', 'on') !== undefined;
  }
  return false;
}

/** Returns the object a method is called on, if `node` is a plain call of one of these methods. */
export function methodCall(
  node: ESTree.Node | null | undefined,
  ...names: string[]
):
  | { object: ESTree.Expression; name: string; args: ESTree.CallExpression['arguments'] }
  | undefined {
  if (node?.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return undefined;
  const { object, property, computed } = node.callee;
  if (computed || property.type !== 'Identifier' || !names.includes(property.name))
    return undefined;
  if (object.type === 'Super' || node.callee.optional) return undefined;
  return { object, name: property.name, args: node.arguments };
}

/** Matches `Object.assign(…)` and the like: a method of a global that is not shadowed. */
export function globalCall(
  context: Context,
  node: ESTree.Node | null | undefined,
  global: string,
  ...names: string[]
): ESTree.CallExpression['arguments'] | undefined {
  const call = methodCall(node, ...names);
  return call && isGlobal(context, call.object, global) ? call.args : undefined;
}

/** True for an identifier that refers to the global of that name. */
export function isGlobal(
  { sourceCode }: Pick<Context, 'sourceCode'>,
  node: ESTree.Node,
  name: string,
): boolean {
  if (node.type !== 'Identifier' || node.name !== name) return false;
  for (
    let scope = sourceCode.getScope(node) as ReturnType<typeof sourceCode.getScope> | null;
    scope;
    scope = scope.upper
  ) {
    const variable = scope.set.get(name);
    if (variable) return variable.defs.length === 0;
  }
  return true;
}

export function isLiteral(
  node: ESTree.Node | null | undefined,
  type: 'string' | 'number',
): node is ESTree.SimpleLiteral {
  return node?.type === 'Literal' && typeof node.value === type;
}

/** True if the expression may be repeated: evaluating it again costs nothing and has no effect. */
export function isRepeatable(node: ESTree.Node): boolean {
  return node.type === 'Identifier' || node.type === 'ThisExpression' || node.type === 'Literal';
}

/** True for a chain of names, such as `this.routes` or `req.url`: the same text means the same value, getters aside. */
export function isPath(node: ESTree.Node): boolean {
  if (node.type !== 'MemberExpression') return isRepeatable(node);
  return !node.computed && isPath(node.object);
}

/** True if any descendant has one of the types; nested functions are skipped. */
export function contains(node: ESTree.Node, types: RegExp): boolean {
  for (const [key, value] of Object.entries(node)) {
    if (key === 'parent') continue;
    for (const child of [value].flat() as (ESTree.Node | null | undefined)[]) {
      if (typeof child?.type !== 'string') continue;
      if (types.test(child.type)) return true;
      if (!isFunction(child) && contains(child, types)) return true;
    }
  }
  return false;
}

/** True if a value is only tested as true or false. */
export function isBooleanContext(node: ESTree.Node): boolean {
  const parent = parentOf(node);
  switch (parent?.type) {
    case 'IfStatement':
    case 'WhileStatement':
    case 'DoWhileStatement':
    case 'ForStatement':
    case 'ConditionalExpression':
      return parent.test === node;
    case 'UnaryExpression':
      return parent.operator === '!';
    case 'LogicalExpression':
      return parent.operator !== '??' && isBooleanContext(parent);
    default:
      return false;
  }
}

/** True if an element or a property is assigned, incremented, deleted, or called with its owner as `this`: more than read. */
export function isWritten(read: ESTree.Node): boolean {
  const parent = parentOf(read);
  switch (parent?.type) {
    case 'AssignmentExpression':
      return parent.left === read;
    case 'CallExpression':
      return parent.callee === read;
    case 'TaggedTemplateExpression':
      return parent.tag === read;
    case 'UnaryExpression':
      return parent.operator === 'delete';
    case 'ForInStatement':
    case 'ForOfStatement':
      return parent.left === read;
    case 'Property':
      return parent.value === read && parentOf(parent)?.type === 'ObjectPattern';
    case 'AssignmentPattern':
      return parent.left === read;
    default:
      return /^(?:UpdateExpression|ArrayPattern|RestElement)$/.test(parent?.type ?? '');
  }
}
