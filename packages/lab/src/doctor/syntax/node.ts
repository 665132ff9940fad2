/** A node of a syntax tree in ESTree's shape, TypeScript and decorators included, with its parent. */
export interface Node {
  type: string;
  /** From the first character of the file, the end not included. */
  start: number;
  end: number;
  parent: Node | undefined;
  [key: string]: unknown;
}

export interface FunctionNode extends Node {
  type: 'FunctionDeclaration' | 'FunctionExpression' | 'ArrowFunctionExpression';
}

export interface ClassNode extends Node {
  type: 'ClassDeclaration' | 'ClassExpression';
}

export interface CallNode extends Node {
  type: 'CallExpression' | 'NewExpression';
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}

/** The node under a key; undefined where it is empty or a list. */
export function at(node: Node | undefined, key: string): Node | undefined {
  const value = node?.[key];
  return isNode(value) ? value : undefined;
}

/** The nodes of a list under a key, holes left out. */
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

/** The node and all below it, in the order of the source as far as the tree has it. */
export function* within(node: Node): Generator<Node> {
  yield node;
  for (const child of childrenOf(node)) yield* within(child);
}

/** Likewise, without looking into functions below it. */
export function* withinFunction(node: Node): Generator<Node> {
  yield node;
  for (const child of childrenOf(node)) if (!isFunction(child)) yield* withinFunction(child);
}

/** What is around a node, innermost first. */
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

/** The innermost node around this one that is of a kind. */
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

/** Without what only the type checker reads: `x as T`, `x!`. */
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

/** The name of an identifier, or of a key that is not computed. */
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

/** A call or a `new`. */
export function isCall(node: Node | undefined): node is CallNode {
  return node?.type === 'CallExpression' || node?.type === 'NewExpression';
}

/** `a.b` of `a.b()`; undefined for computed ones. */
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

/** The value of a key of an object literal; undefined where it is not written there. */
export function propertyOf(object: Node | undefined, name: string): Node | undefined {
  if (object?.type !== 'ObjectExpression') return undefined;
  const found = listAt(object, 'properties').find(
    (each) =>
      each.type === 'Property' && each['computed'] !== true && nameOf(at(each, 'key')) === name,
  );
  return bare(at(found, 'value'));
}

/** Whether an object literal has everything written out: a spread may hold any key. */
export function isWrittenOut(object: Node | undefined): boolean {
  return (
    object?.type === 'ObjectExpression' &&
    listAt(object, 'properties').every(
      ({ type, computed }) => type === 'Property' && computed !== true,
    )
  );
}

/** The statement a node is part of, and that a line of its own can go before. */
export function statementOf(node: Node): Node {
  let statement = node;
  for (const above of ancestors(node)) {
    if (above.type === 'Program' || above.type === 'BlockStatement' || above.type === 'StaticBlock')
      break;
    statement = above;
  }
  return statement;
}

/** Where a statement begins: the decorators of a class stand before it, also before its export. */
export function startWithDecorators(statement: Node): number {
  const decorators = [statement, at(statement, 'declaration')].flatMap((each) =>
    listAt(each, 'decorators'),
  );
  return Math.min(statement.start, ...decorators.map(({ start }) => start));
}

/** The outermost statement: what stands at the top level of the file. */
export function topStatementOf(node: Node): Node {
  let statement = node;
  for (const above of ancestors(node)) {
    if (above.type === 'Program') break;
    statement = above;
  }
  return statement;
}
