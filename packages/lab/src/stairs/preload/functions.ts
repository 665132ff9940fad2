import type { Node } from 'acorn';

/** Any node of the syntax tree; its type determines its keys. */
export type AnyNode = Node & Record<string, unknown>;

export interface FunctionNode extends AnyNode {
  type: 'FunctionDeclaration' | 'FunctionExpression' | 'ArrowFunctionExpression';
  async: boolean;
  generator: boolean;
  expression: boolean;
  body: AnyNode;
}

export interface FoundFunction {
  node: FunctionNode;
  /** `JwtGuard.canActivate`, `priceItems`, `<anonymous>`. */
  name: string;
  isConstructor: boolean;
}

/** An `await …` within a function, as far as the text shows it. */
export interface FoundAwait {
  node: AnyNode;
  /** The function that resumes. */
  within: FoundFunction;
  /**
   * The block of a `try … finally` that is the next statement: `const client = await pool.connect(); try {`. The awaited resource
   * is released only there.
   */
  owner: AnyNode | undefined;
}

/** Callbacks for the parts of a source, called before their children. A returned function is called after them. */
export interface Visitor {
  enter(found: FoundFunction): void;
  leave(found: FoundFunction): void;
  awaits(found: FoundAwait): (() => void) | undefined;
  catches(clause: AnyNode): void;
  /** Visits the handler in `promise.catch(handler)` and `promise.then(…, handler)`. */
  handles(handler: AnyNode, isLast: boolean): (() => void) | undefined;
}

export function walk(root: AnyNode, visitor: Visitor): void {
  visit(root, [], { className: '', within: undefined }, visitor);
}

interface Place {
  className: string;
  within: FoundFunction | undefined;
}

function visit(node: AnyNode, above: readonly AnyNode[], place: Place, visitor: Visitor): void {
  const isFunction = isFunctionNode(node) && !isExportGetter(node, above);
  const found = isFunction ? describe(node, above, place.className) : undefined;
  if (found) visitor.enter(found);
  if (node.type === 'CatchClause') visitor.catches(node);
  const resumed =
    node.type === 'AwaitExpression' && place.within
      ? visitor.awaits({ node, within: place.within, owner: ownerOf(node, above) })
      : undefined;
  const handler = handlerOf(node);
  const handled = handler && visitor.handles(handler, above.at(-1)?.type === 'ExpressionStatement');
  const inside: Place = {
    className: isClass(node) ? nameOfClass(node, above) : place.className,
    within: found ?? place.within,
  };
  const below = [...above, node];
  for (const key of Object.keys(node)) {
    const value = node[key];
    if (Array.isArray(value)) {
      for (const each of value) if (isNode(each)) visit(each, below, inside, visitor);
    } else if (isNode(value)) {
      visit(value, below, inside, visitor);
    }
  }
  resumed?.();
  handled?.();
  if (found) visitor.leave(found);
}

function ownerOf(node: AnyNode, above: readonly AnyNode[]): AnyNode | undefined {
  const chain = [...above, node];
  const at = chain.findLastIndex(({ type }) => type === 'BlockStatement');
  const statements = at < 0 ? [] : (chain[at]!['body'] as AnyNode[]);
  const next = statements[statements.indexOf(chain[at + 1]!) + 1];
  const finalizer = next?.type === 'TryStatement' ? next['finalizer'] : undefined;
  return finalizer ? (next!['block'] as AnyNode) : undefined;
}

function handlerOf(node: AnyNode): AnyNode | undefined {
  if (node.type !== 'CallExpression') return undefined;
  const callee = node['callee'] as AnyNode;
  if (callee.type !== 'MemberExpression' || callee['computed'] === true) return undefined;
  const args = node['arguments'] as AnyNode[];
  if (args.some(({ type }) => type === 'SpreadElement')) return undefined;
  const method = textOf(callee['property']);
  if (method === 'catch' && args.length === 1) return args[0];
  return method === 'then' && args.length === 2 ? args[1] : undefined;
}

function describe(node: FunctionNode, above: readonly AnyNode[], className: string): FoundFunction {
  const parent = above.at(-1);
  const own = (node['id'] as { name?: string } | null | undefined)?.name;
  const given = own ?? (parent ? nameGivenBy(parent, node) : undefined);
  const isMember = parent?.type === 'MethodDefinition' || parent?.type === 'PropertyDefinition';
  const isConstructor = parent?.['kind'] === 'constructor';
  const base = isConstructor ? `new ${className}` : given;
  return {
    node,
    name:
      isMember && !isConstructor && className !== '' && base !== undefined
        ? `${className}.${base}`
        : (base ?? '<anonymous>'),
    isConstructor,
  };
}

/**
 * True for a getter with which compilers and bundlers make an export live: `__export(prices_exports, { priceOf: () => priceOf })`,
 * `Object.defineProperty(exports, 'priceOf', { get: function () { return prices_1.priceOf; } })`. It is generated, and only names
 * another function.
 */
function isExportGetter(node: FunctionNode, above: readonly AnyNode[]): boolean {
  const [property, object, call] = above.slice(-3).toReversed();
  const isHandedOver =
    property?.type === 'Property' &&
    object?.type === 'ObjectExpression' &&
    call?.type === 'CallExpression';
  if (!isHandedOver || node.async || node.generator) return false;
  if ((node['params'] as AnyNode[]).length > 0) return false;
  const result = onlyResultOf(node);
  return result?.type === 'Identifier' || isNameIn(result);
}

function onlyResultOf({ body }: FunctionNode): AnyNode | undefined {
  if (body.type === 'ParenthesizedExpression') return body['expression'] as AnyNode;
  if (body.type !== 'BlockStatement') return body;
  const [only, ...others] = body['body'] as AnyNode[];
  if (others.length > 0 || only?.type !== 'ReturnStatement') return undefined;
  return (only['argument'] as AnyNode | null) ?? undefined;
}

/** True for `prices_1.priceOf`, or `m[k]`. */
function isNameIn(node: AnyNode | undefined): boolean {
  if (node?.type !== 'MemberExpression') return false;
  return [node['object'], node['property']].every(
    (part) => (part as AnyNode).type === 'Identifier',
  );
}

/** Helper with which esbuild keeps a function's original name: `__name(() => …, "price")`. */
export const nameKeeper = '__name';

/** Returns the name that JavaScript itself would give, derived from the assignment target. */
function nameGivenBy(parent: AnyNode, node: AnyNode): string | undefined {
  switch (parent.type) {
    case 'VariableDeclarator':
      return textOf(parent['id']);
    case 'AssignmentExpression':
      return parent['right'] === node ? textOf(parent['left']) : undefined;
    case 'Property':
    case 'MethodDefinition':
    case 'PropertyDefinition':
      return textOf(parent['key']);
    case 'CallExpression': {
      const callee = textOf(parent['callee']);
      if (callee === nameKeeper) return textOf((parent['arguments'] as AnyNode[])[1]);
      return callee === undefined ? undefined : `${callee}(…)`;
    }
    default:
      return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  if (!isNode(value)) return undefined;
  if (value.type === 'Identifier' || value.type === 'PrivateIdentifier') {
    return `${value.type === 'PrivateIdentifier' ? '#' : ''}${String(value['name'])}`;
  }
  if (value.type === 'Literal') return String(value['value']);
  if (value.type === 'ThisExpression') return 'this';
  if (value.type !== 'MemberExpression' || value['computed'] === true) return undefined;
  const property = textOf(value['property']);
  const object = textOf(value['object']);
  // `exports.feed = () => …` is feed.
  if (object === undefined || object === 'exports' || object === 'this') return property;
  return object === 'module.exports' ? property : `${object}.${property}`;
}

function nameOfClass(node: AnyNode, above: readonly AnyNode[]): string {
  const own = (node['id'] as { name?: string } | null)?.name;
  const parent = above.at(-1);
  return own ?? (parent ? nameGivenBy(parent, node) : undefined) ?? 'class';
}

function isClass(node: AnyNode): boolean {
  return node.type === 'ClassDeclaration' || node.type === 'ClassExpression';
}

function isFunctionNode(node: AnyNode): node is FunctionNode {
  return (
    node.type === 'FunctionDeclaration' ||
    node.type === 'FunctionExpression' ||
    node.type === 'ArrowFunctionExpression'
  );
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}
