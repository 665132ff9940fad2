import type { SourceCode } from 'eslint';
import type * as ESTree from 'estree';
import { type Context, isGlobal, methodCall } from './node.ts';
import { variableOf } from './variable.ts';

export type Kind =
  | 'array'
  | 'string'
  | 'number'
  | 'boolean'
  | 'regexp'
  | 'map'
  | 'set'
  | 'function'
  | 'object';

/** Methods that return the same kind for every object. */
const methods = new Map<string, Kind>(
  (
    [
      ['array', 'split map filter flatMap splice sort reverse'],
      [
        'string',
        'toFixed toLowerCase toUpperCase toString toISOString trim join substring substr charAt replace padStart padEnd repeat',
      ],
      [
        'number',
        'indexOf lastIndexOf charCodeAt push getTime getHours getMinutes getSeconds getDate getDay getMonth getFullYear',
      ],
      ['boolean', 'startsWith endsWith includes some every test has'],
    ] as const
  ).flatMap(([kind, names]) => names.split(' ').map((name) => [name, kind] as const)),
);

const globalFunctions: Record<string, Kind> = {
  String: 'string',
  Number: 'number',
  Boolean: 'boolean',
  parseInt: 'number',
  parseFloat: 'number',
  isNaN: 'boolean',
  encodeURIComponent: 'string',
  decodeURIComponent: 'string',
};

const classes: Record<string, Kind> = {
  Array: 'array',
  Map: 'map',
  Set: 'set',
  RegExp: 'regexp',
  Object: 'object',
};

/** Max depth: results of deep chains of variables are not credible. */
const maxSteps = 8;

/** Returns the kind of an expression, as far as this file alone shows it; undefined otherwise. */
export function kindOf(
  context: Pick<Context, 'sourceCode'>,
  node: ESTree.Node | null | undefined,
  steps = 0,
): Kind | undefined {
  if (node == null || steps > maxSteps) return undefined;
  const of = (inner: ESTree.Node | null | undefined): Kind | undefined =>
    kindOf(context, inner, steps + 1);
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
    case 'NewExpression':
      return node.callee.type === 'Identifier' ? classes[node.callee.name] : undefined;
    case 'UnaryExpression':
      if (node.operator === '!') return 'boolean';
      return /^[-+~]$/.test(node.operator) ? 'number' : undefined;
    case 'UpdateExpression':
      return 'number';
    case 'BinaryExpression':
      return kindOfBinary(node, of);
    case 'AssignmentExpression':
      return node.operator === '=' ? of(node.right) : undefined;
    case 'ConditionalExpression':
      return agreed([of(node.consequent), of(node.alternate)]);
    case 'LogicalExpression':
      // `given || []`: the default shows the expected kind.
      return of(node.right) ?? (node.operator === '&&' ? undefined : of(node.left));
    case 'CallExpression':
      return kindOfCall(context, node);
    case 'MemberExpression':
      return kindOfMember(context, node, steps);
    case 'Identifier':
      return kindOfVariable(context, node, steps);
    default:
      return undefined;
  }
}

function kindOfLiteral(node: ESTree.Literal): Kind | undefined {
  if ('regex' in node && node.regex) return 'regexp';
  const kind = typeof node.value;
  return kind === 'string' || kind === 'number' || kind === 'boolean' ? kind : undefined;
}

function kindOfBinary(
  { operator, left, right }: ESTree.BinaryExpression,
  of: (node: ESTree.Node) => Kind | undefined,
): Kind | undefined {
  if (/^(?:[<>]=?|[!=]==?|in|instanceof)$/.test(operator)) return 'boolean';
  if (operator !== '+') return 'number';
  const kinds = [of(left), of(right)];
  if (kinds.includes('string')) return 'string';
  return kinds.every((kind) => kind === 'number') ? 'number' : undefined;
}

function kindOfCall(
  context: Pick<Context, 'sourceCode'>,
  { callee }: ESTree.SimpleCallExpression,
): Kind | undefined {
  if (callee.type === 'Identifier') {
    const kind = globalFunctions[callee.name];
    return kind !== undefined && isGlobal(context, callee, callee.name) ? kind : undefined;
  }
  if (callee.type !== 'MemberExpression' || callee.computed) return undefined;
  if (callee.property.type !== 'Identifier') return undefined;
  const { name } = callee.property;
  if (isGlobal(context, callee.object, 'Math') || isGlobal(context, callee.object, 'Date')) {
    return 'number';
  }
  if (isGlobal(context, callee.object, 'Object')) {
    return /^(?:keys|values|entries|getOwnPropertyNames)$/.test(name) ? 'array' : undefined;
  }
  if (isGlobal(context, callee.object, 'Array')) {
    return name === 'isArray' ? 'boolean' : 'array';
  }
  if (isGlobal(context, callee.object, 'JSON')) return name === 'stringify' ? 'string' : undefined;
  return methods.get(name);
}

function kindOfMember(
  context: Pick<Context, 'sourceCode'>,
  { property, computed }: ESTree.MemberExpression,
  steps: number,
): Kind | undefined {
  if (computed || property.type !== 'Identifier') return undefined;
  if (property.name === 'length') return 'number';
  const values = propertiesOf(context.sourceCode).get(property.name);
  return values && agreed(values.map((value) => kindOf(context, value, steps + 1)));
}

function kindOfVariable(
  context: Pick<Context, 'sourceCode'>,
  node: ESTree.Identifier,
  steps: number,
): Kind | undefined {
  const variable = variableOf(context, node);
  const [definition, ...others] = variable?.defs ?? [];
  if (!variable || definition?.type !== 'Variable' || others.length > 0) return undefined;
  const writes = variable.references.filter(
    (reference) => reference.isWrite() && !extendsItself(reference.writeExpr, node.name),
  );
  if (writes.length === 0) return undefined;
  return agreed(
    writes.map(({ writeExpr, identifier }) => {
      // `x += 1`, `for (x of …)` and patterns assign something other than the adjacent expression.
      const parent = (identifier as { parent?: ESTree.Node }).parent;
      const direct =
        (parent?.type === 'VariableDeclarator' && parent.id === identifier) ||
        (parent?.type === 'AssignmentExpression' && parent.operator === '=');
      if (parent?.type === 'UpdateExpression') return 'number';
      return direct ? kindOf(context, writeExpr as ESTree.Node | null, steps + 1) : undefined;
    }),
  );
}

/** True for `text = text + more`, `list = list.concat(more)`: the kind stays the same. */
function extendsItself(value: ESTree.Node | null | undefined, name: string): boolean {
  const start =
    value?.type === 'BinaryExpression' && value.operator === '+'
      ? value.left
      : methodCall(value, 'concat', 'slice')?.object;
  return start?.type === 'Identifier' && start.name === name;
}

function agreed(kinds: readonly (Kind | undefined)[]): Kind | undefined {
  const [first] = kinds;
  return kinds.every((kind) => kind === first) ? first : undefined;
}

const cache = new WeakMap<SourceCode, Map<string, ESTree.Node[]>>();

/** Returns everything this file assigns to a property, by the property's name, regardless of the object. */
function propertiesOf(sourceCode: SourceCode): Map<string, ESTree.Node[]> {
  const known = cache.get(sourceCode);
  if (known) return known;
  const values = new Map<string, ESTree.Node[]>();
  const add = (name: string, value: ESTree.Node): void => {
    const all = values.get(name);
    if (all) all.push(value);
    else values.set(name, [value]);
  };
  const visit = (node: ESTree.Node): void => {
    if (node.type === 'AssignmentExpression' && node.left.type === 'MemberExpression') {
      const { property, computed } = node.left;
      if (!computed && property.type === 'Identifier') add(property.name, node.right);
    } else if (node.type === 'Property' || node.type === 'PropertyDefinition') {
      if (!node.computed && node.key.type === 'Identifier' && node.value) {
        add(node.key.name, node.value);
      }
    }
    for (const key of sourceCode.visitorKeys[node.type] ?? []) {
      const children = [(node as unknown as Record<string, unknown>)[key]].flat();
      for (const child of children as (ESTree.Node | null)[]) if (child) visit(child);
    }
  };
  visit(sourceCode.ast);
  cache.set(sourceCode, values);
  return values;
}
