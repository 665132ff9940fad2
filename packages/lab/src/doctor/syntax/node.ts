/** An ESTree node with its parent, including TypeScript and decorators. */
export interface Node {
  type: string;
  /** Offset in the file; the end is exclusive. */
  start: number;
  end: number;
  parent: Node | undefined;
  [key: string]: unknown;
}

export interface FunctionNode extends Node {
  type: 'FunctionDeclaration' | 'FunctionExpression' | 'ArrowFunctionExpression';
}

interface ClassNode extends Node {
  type: 'ClassDeclaration' | 'ClassExpression';
}

export interface CallNode extends Node {
  type: 'CallExpression' | 'NewExpression';
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}

/** Returns the node under a key; undefined if it is empty or a list. */
export function at(node: Node | undefined, key: string): Node | undefined {
  const value = node?.[key];
  return isNode(value) ? value : undefined;
}

/** Returns the nodes of a list under a key, without holes. */
export function listAt(node: Node | undefined, key: string): Node[] {
  const value = node?.[key];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

export function* childrenOf(node: Node): Generator<Node> {
  for (const [key, value] of Object.entries(node)) {
    if (key === 'parent') continue;
    if (isNode(value)) yield value;
    else if (Array.isArray(value)) yield* value.filter(isNode);
  }
}

/** Yields the node and all its descendants, in source order as far as the tree has it. */
export function* within(node: Node): Generator<Node> {
  yield node;
  for (const child of childrenOf(node)) yield* within(child);
}

/** Yields like `within`, but skips nested functions. */
export function* withinFunction(node: Node): Generator<Node> {
  yield node;
  for (const child of childrenOf(node)) if (!isFunction(child)) yield* withinFunction(child);
}

/** Yields the ancestors of a node, innermost first. */
export function* ancestors(node: Node): Generator<Node> {
  for (let above = node.parent; above !== undefined; above = above.parent) yield above;
}

export function isFunction(node: Node | undefined): node is FunctionNode {
  return (
    node?.type === 'FunctionDeclaration' ||
    node?.type === 'FunctionExpression' ||
    node?.type === 'ArrowFunctionExpression'
  );
}

/** Returns the innermost ancestor that matches. */
export function around(node: Node, is: (above: Node) => boolean): Node | undefined {
  for (const above of ancestors(node)) if (is(above)) return above;
  return undefined;
}

export function enclosingFunction(node: Node): Node | undefined {
  return around(node, isFunction);
}

export function enclosingClass(node: Node): Node | undefined {
  return around(node, isClass);
}

export function isClass(node: Node | undefined): node is ClassNode {
  return node?.type === 'ClassDeclaration' || node?.type === 'ClassExpression';
}

/** Unwraps syntax that only the type checker reads: `x as T`, `x!`. */
export function bare(node: Node | undefined): Node | undefined {
  let inner = node;
  while (
    inner !== undefined &&
    /^(TS(As|NonNull|Satisfies|TypeAssertion)|ParenthesizedExp|ChainExp)/.test(inner.type)
  ) {
    inner = at(inner, 'expression');
  }
  return inner;
}

/** Returns the name of an identifier, or of a non-computed key. */
export function nameOf(node: Node | undefined): string | undefined {
  if (node?.type === 'Identifier' || node?.type === 'PrivateIdentifier')
    return node['name'] as string;
  return stringOf(node);
}

export function stringOf(node: Node | undefined): string | undefined {
  if (node?.type === 'Literal' && typeof node['value'] === 'string') return node['value'];
  const [only, ...others] = listAt(node, 'quasis');
  if (node?.type !== 'TemplateLiteral' || only === undefined || others.length > 0) return undefined;
  return (only['value'] as { cooked?: string }).cooked;
}

export function isLiteral(node: Node | undefined, value: unknown): boolean {
  return node?.type === 'Literal' && node['value'] === value;
}

/** True for a call or a `new`. */
export function isCall(node: Node | undefined): node is CallNode {
  return node?.type === 'CallExpression' || node?.type === 'NewExpression';
}

/** Returns `a` and `b` of `a.b()`; undefined for computed members. */
export function methodOf(call: Node | undefined): { object: Node; name: string } | undefined {
  const callee = bare(at(call, 'callee'));
  if (!isCall(call) || callee?.type !== 'MemberExpression' || callee['computed'] === true) {
    return undefined;
  }
  const object = bare(at(callee, 'object'));
  const name = nameOf(at(callee, 'property'));
  return object === undefined || name === undefined ? undefined : { object, name };
}

export function argumentsOf(call: Node | undefined): Node[] {
  return listAt(call, 'arguments');
}

/** Returns the value of a key in an object literal; undefined if the key is not written there. */
export function propertyOf(object: Node | undefined, name: string): Node | undefined {
  if (object?.type !== 'ObjectExpression') return undefined;
  const found = listAt(object, 'properties').find(
    (each) =>
      each.type === 'Property' && each['computed'] !== true && nameOf(at(each, 'key')) === name,
  );
  return bare(at(found, 'value'));
}

/** True if all keys of an object literal are written out: a spread may add any key. */
export function isWrittenOut(object: Node | undefined): boolean {
  return (
    object?.type === 'ObjectExpression' &&
    listAt(object, 'properties').every(
      ({ type, computed }) => type === 'Property' && computed !== true,
    )
  );
}

/** Returns the statement that contains a node, and in front of which a new line can be inserted. */
export function statementOf(node: Node): Node {
  let statement = node;
  for (const above of ancestors(node)) {
    if (above.type === 'Program' || above.type === 'BlockStatement' || above.type === 'StaticBlock')
      break;
    statement = above;
  }
  return statement;
}

/** Returns the start of a statement including its decorators: those of a class precede it, and its export. */
export function startWithDecorators(statement: Node): number {
  const decorators = [statement, at(statement, 'declaration')].flatMap((each) =>
    listAt(each, 'decorators'),
  );
  return Math.min(statement.start, ...decorators.map(({ start }) => start));
}

/** Returns the outermost statement, at the top level of the file. */
export function topStatementOf(node: Node): Node {
  let statement = node;
  for (const above of ancestors(node)) {
    if (above.type === 'Program') break;
    statement = above;
  }
  return statement;
}

export function returnedBy(fn: Node): Node[] {
  const body = at(fn, 'body');
  if (body === undefined) return [];
  if (body.type !== 'BlockStatement') return [body];
  const found: Node[] = [];
  for (const each of withinFunction(body)) {
    const value = each.type === 'ReturnStatement' ? bare(at(each, 'argument')) : undefined;
    if (value !== undefined && enclosingFunction(each) === fn) found.push(value);
  }
  return found;
}
