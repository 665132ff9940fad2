import type { Scope } from 'eslint';
import type * as ESTree from 'estree';
import type { Kind } from './kind.ts';
import { type Context, isGlobal } from './node.ts';
import { variableOf } from './variable.ts';

type Sources = Pick<Context, 'sourceCode'>;

/** Return kinds of standard library methods, by the kind of the object. */
const methods: Partial<Record<Kind, Record<string, Kind>>> = {
  string: returning({
    string:
      'charAt concat normalize padEnd padStart repeat replace replaceAll slice substring substr toLowerCase toUpperCase toString trim trimEnd trimStart valueOf',
    number: 'charCodeAt indexOf lastIndexOf localeCompare search',
    boolean: 'endsWith includes startsWith',
    array: 'split',
  }),
  number: returning({ string: 'toExponential toFixed toPrecision toString', number: 'valueOf' }),
  boolean: returning({ string: 'toString', boolean: 'valueOf' }),
  array: returning({
    string: 'join',
    number: 'indexOf lastIndexOf push unshift',
    boolean: 'every includes some',
    array: 'concat filter flat flatMap map reverse slice sort splice',
  }),
  regexp: returning({ boolean: 'test' }),
};

const functions: Record<string, Kind> = {
  String: 'string',
  Number: 'number',
  Boolean: 'boolean',
  parseInt: 'number',
  parseFloat: 'number',
  isNaN: 'boolean',
  encodeURIComponent: 'string',
  decodeURIComponent: 'string',
};

const statics: Record<string, Record<string, Kind>> = {
  Object: returning({ array: 'entries getOwnPropertyNames keys values' }),
  Array: returning({ array: 'from of', boolean: 'isArray' }),
  Date: returning({ number: 'UTC now parse' }),
};

const classes: Record<string, Kind> = { Array: 'array', Map: 'map', Set: 'set', RegExp: 'regexp' };

const maxSteps = 8;

/**
 * Returns the kind of an expression if its syntax allows no other: the basis of rewrites in place. Property names, the other side
 * of `||` and common usage prove nothing here; `kindOf` is for advice.
 */
export function provenKind(
  context: Sources,
  node: ESTree.Node | null | undefined,
  steps = 0,
): Kind | undefined {
  if (node == null || steps > maxSteps) return undefined;
  const of = (inner: ESTree.Node | null | undefined): Kind | undefined =>
    provenKind(context, inner, steps + 1);
  switch (node.type) {
    case 'Literal':
      return kindOfLiteral(node);
    case 'TemplateLiteral':
      return 'string';
    case 'ArrayExpression':
      return 'array';
    case 'ObjectExpression':
      return 'object';
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return 'function';
    case 'NewExpression': {
      const { callee } = node;
      if (callee.type !== 'Identifier' || !isGlobal(context, callee, callee.name)) return undefined;
      return classes[callee.name];
    }
    case 'UnaryExpression':
      return kindOfUnary(node, of);
    case 'BinaryExpression':
      return kindOfBinary(node, of);
    case 'AssignmentExpression':
      return node.operator === '=' ? of(node.right) : undefined;
    case 'ConditionalExpression':
      return agreed(of(node.consequent), of(node.alternate));
    case 'LogicalExpression':
      return agreed(of(node.left), of(node.right));
    case 'CallExpression':
      return kindOfCall(context, node, of);
    case 'MemberExpression':
      return kindOfLength(node, of);
    case 'Identifier': {
      const value = onlyValues(variableOf(context, node));
      return value && agreed(...value.map(of));
    }
    default:
      return undefined;
  }
}

type KindOf = (node: ESTree.Node | null | undefined) => Kind | undefined;

function kindOfLiteral(node: ESTree.Literal): Kind | undefined {
  if ('regex' in node && node.regex) return 'regexp';
  const kind = typeof node.value;
  return kind === 'string' || kind === 'number' || kind === 'boolean' ? kind : undefined;
}

function kindOfUnary({ operator, argument }: ESTree.UnaryExpression, of: KindOf): Kind | undefined {
  if (operator === '!' || operator === 'delete') return 'boolean';
  if (operator === 'typeof') return 'string';
  if (operator === '+') return 'number';
  // For a bigint, `-` and `~` return a bigint.
  return /^[-~]$/.test(operator) && of(argument) === 'number' ? 'number' : undefined;
}

function kindOfBinary(
  { operator, left, right }: ESTree.BinaryExpression,
  of: KindOf,
): Kind | undefined {
  if (/^(?:[<>]=?|[!=]==?|in|instanceof)$/.test(operator)) return 'boolean';
  const kinds = [of(left), of(right)];
  if (operator === '+' && kinds.includes('string')) return 'string';
  // A bigint with a number throws, so one side decides; `+` may also concatenate strings.
  if (operator === '+') return kinds.every((kind) => kind === 'number') ? 'number' : undefined;
  return kinds.includes('number') ? 'number' : undefined;
}

function kindOfCall(
  context: Sources,
  { callee, optional }: ESTree.SimpleCallExpression,
  of: KindOf,
): Kind | undefined {
  if (optional) return undefined;
  if (callee.type === 'Identifier') {
    return isGlobal(context, callee, callee.name) ? own(functions, callee.name) : undefined;
  }
  if (callee.type !== 'MemberExpression' || callee.computed || callee.optional) return undefined;
  const { object, property } = callee;
  if (property.type !== 'Identifier' || object.type === 'Super') return undefined;
  if (object.type === 'Identifier' && isGlobal(context, object, object.name)) {
    if (object.name === 'Math') return property.name === 'sumPrecise' ? undefined : 'number';
    const known = own(statics, object.name);
    return known && own(known, property.name);
  }
  const receiver = of(object);
  const known = receiver && methods[receiver];
  return known && own(known, property.name);
}

function kindOfLength(
  { object, property, computed, optional }: ESTree.MemberExpression,
  of: KindOf,
): Kind | undefined {
  if (computed || optional || property.type !== 'Identifier') return undefined;
  if (property.name !== 'length' || object.type === 'Super') return undefined;
  return /^(?:string|array)$/.test(of(object) ?? '') ? 'number' : undefined;
}

/** Returns all values a variable can ever hold; undefined if they are not all visible. */
function onlyValues(variable: Scope.Variable | undefined): ESTree.Node[] | undefined {
  const [definition, ...others] = variable?.defs ?? [];
  if (!variable || definition?.type !== 'Variable' || others.length > 0) return undefined;
  const { id, init } = definition.node;
  // `var` is undefined above its line, and so is a declaration without a value until it is assigned.
  if (definition.parent.kind === 'var' || id.type !== 'Identifier' || !init) return undefined;
  const values: ESTree.Node[] = [];
  for (const reference of variable.references) {
    if (!reference.isWrite()) continue;
    const parent = (reference.identifier as { parent?: ESTree.Node }).parent;
    const isDirect =
      parent?.type === 'VariableDeclarator' ||
      (parent?.type === 'AssignmentExpression' && parent.operator === '=');
    if (!isDirect || !reference.writeExpr) return undefined;
    if (parent.type === 'AssignmentExpression' && parent.left !== reference.identifier)
      return undefined;
    values.push(reference.writeExpr as ESTree.Node);
  }
  return values;
}

function agreed(...kinds: (Kind | undefined)[]): Kind | undefined {
  const [first] = kinds;
  return kinds.every((kind) => kind === first) ? first : undefined;
}

function returning(names: Partial<Record<Kind, string>>): Record<string, Kind> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([kind, list]) =>
      list.split(' ').map((name) => [name, kind as Kind]),
    ),
  );
}

/** Ignores inherited names such as `constructor`. */
function own<Value>(table: Record<string, Value>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
