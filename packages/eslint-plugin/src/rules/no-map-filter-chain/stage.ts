import type * as ESTree from 'estree';
import {
  type Context,
  type FunctionNode,
  isFunction,
  methodCall,
  parentOf,
} from '../../ast/node.ts';
import { isPure } from '../../ast/pure.ts';

/** One `map` or `filter` of a chain whose callback only computes. */
export interface Stage {
  name: 'map' | 'filter';
  fn: FunctionNode;
  /** Name of the element; undefined if the callback does not use it. */
  param: string | undefined;
  /** Identifiers that refer to the element. */
  uses: ESTree.Identifier[];
  /** Declarations in the callback before it returns. */
  declarations: ESTree.VariableDeclaration[];
  declared: string[];
  /** Names it uses from outer scopes. */
  outer: string[];
  value: ESTree.Expression;
}

/** Returns the stages of a chain that ends here, in the order in which they run; the first is the innermost. */
export function stagesOf(context: Context, last: ESTree.CallExpression): Stage[] {
  const stages: Stage[] = [];
  for (let node: ESTree.Node = last; ;) {
    const stage = stageOf(context, node);
    if (stage === undefined) return stages;
    stages.unshift(stage);
    node = methodCall(node, 'map', 'filter')!.object;
  }
}

function stageOf(context: Context, node: ESTree.Node): Stage | undefined {
  const call = methodCall(node, 'map', 'filter');
  const [fn, ...others] = call?.args ?? [];
  // A second argument is its `this`.
  if (!call || others.length > 0 || !isFunction(fn) || fn.async || fn.generator) return undefined;
  const [param, ...more] = fn.params;
  if (more.length > 0 || (param !== undefined && param.type !== 'Identifier')) return undefined;
  const body = fn.body.type === 'BlockStatement' ? fn.body.body : [];
  const result = fn.body.type === 'BlockStatement' ? returned(body.at(-1)) : fn.body;
  const declarations = body.slice(0, -1);
  if (!result || !declarations.every(isDeclaration)) return undefined;
  if (![...declarations, result].every((each) => isPure(context, each))) return undefined;
  const { sourceCode } = context;
  const scope = sourceCode.scopeManager.acquire(fn);
  const variable = param && scope?.set.get(param.name);
  const outer = new Set(scope?.through.map(({ identifier }) => identifier.name as string));
  // A function that uses its own name, or its own arguments, cannot be reduced to its body.
  const isAlone =
    fn.type === 'ArrowFunctionExpression' || (fn.id == null && !outer.has('arguments'));
  const ownArguments = scope?.set.get('arguments')?.references.length ?? 0;
  if (!scope || !isAlone || ownArguments > 0 || variable?.defs.length === 2) return undefined;
  const declared = declarations.flatMap(({ declarations: all }) =>
    all.map(({ id }) => (id as ESTree.Identifier).name),
  );
  return {
    name: call.name as Stage['name'],
    fn,
    param: param?.name,
    uses: (variable?.references ?? []).map(({ identifier }) => identifier as ESTree.Identifier),
    declarations,
    declared,
    outer: [...outer],
    value: result,
  };
}

function returned(node: ESTree.Node | undefined): ESTree.Expression | undefined {
  return node?.type === 'ReturnStatement' ? (node.argument ?? undefined) : undefined;
}

/** True for a declaration of plain names with values. */
function isDeclaration(node: ESTree.Node): node is ESTree.VariableDeclaration {
  return (
    node.type === 'VariableDeclaration' &&
    node.declarations.every(({ id, init }) => id.type === 'Identifier' && init != null)
  );
}

/**
 * True if the bodies can be merged into one function: each name is declared once, and no body uses an outer name that another one
 * declares.
 */
export function canJoin(stages: readonly Stage[]): boolean {
  const [{ param: first }] = stages as [Stage];
  const names = [
    ...(first === undefined ? [] : [first]),
    ...stages.flatMap((each) => each.declared),
  ];
  if (new Set(names).size < names.length) return false;
  return stages.every(({ outer, declared, param }, index) =>
    names.every(
      (name) =>
        declared.includes(name) ||
        (index === 0 && name === first) ||
        name === param ||
        !outer.includes(name),
    ),
  );
}

/** True for `{ product }`, which is also a property name. */
export function isShorthand(use: ESTree.Node): boolean {
  const parent = parentOf(use);
  return parent?.type === 'Property' && parent.shorthand;
}
