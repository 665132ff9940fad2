import type { Node } from 'acorn';

/** Any node of the syntax tree; its kind tells which keys it has. */
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

/** Calls back before and after the children of each function, and for each catch clause. */
export interface Visitor {
  enter(found: FoundFunction): void;
  leave(found: FoundFunction): void;
  catches(clause: AnyNode): void;
}

export function walk(root: AnyNode, visitor: Visitor): void {
  visit(root, [], '', visitor);
}

function visit(
  node: AnyNode,
  above: readonly AnyNode[],
  className: string,
  visitor: Visitor,
): void {
  const isFunction = isFunctionNode(node);
  const found = isFunction ? describe(node, above, className) : undefined;
  if (found) visitor.enter(found);
  if (node.type === 'CatchClause') visitor.catches(node);
  const inside = isClass(node) ? nameOfClass(node, above) : className;
  const below = [...above, node];
  for (const key of Object.keys(node)) {
    const value = node[key];
    if (Array.isArray(value)) {
      for (const each of value) if (isNode(each)) visit(each, below, inside, visitor);
    } else if (isNode(value)) {
      visit(value, below, inside, visitor);
    }
  }
  if (found) visitor.leave(found);
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

/** The name JavaScript itself would give, from where the function is put. */
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
