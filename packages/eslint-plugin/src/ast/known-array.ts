import type * as ESTree from 'estree';
import { kindOf } from './kind.ts';
import { type Context, isFunction, parentOf } from './node.ts';
import { provenKind } from './proven-kind.ts';
import { constantValue, usesOf, variableOf } from './variable.ts';

const maxSteps = 6;

/**
 * True if a value is an array by its origin in this file: its own value, the return value of a function, or the argument of every
 * caller. Uses prove nothing: other objects have the methods of arrays too.
 */
export function isKnownArray(
  context: Context,
  node: ESTree.Node | null | undefined,
  steps: number = maxSteps,
): boolean {
  if (node == null || steps === 0) return false;
  if (kindOf(context, node) === 'array' || provenKind(context, node) === 'array') return true;
  if (node.type === 'CallExpression') {
    const fn = node.callee.type === 'Identifier' ? functionOf(context, node.callee) : undefined;
    const values = fn && returnedBy(fn);
    return (
      values !== undefined &&
      values.length > 0 &&
      values.every((value) => isKnownArray(context, value, steps - 1))
    );
  }
  const variable = variableOf(context, node);
  const [definition] = variable?.defs ?? [];
  if (!variable || !definition) return false;
  if (definition.type !== 'Parameter')
    return isKnownArray(context, constantValue(variable), steps - 1);
  const given = givenBy(context, definition.node as ESTree.Node, definition.name as ESTree.Node);
  const isGiven = variable.references.every((reference) => !reference.isWrite());
  return (
    isGiven &&
    given !== undefined &&
    given.length > 0 &&
    given.every((each) => isKnownArray(context, each, steps - 1))
  );
}

/** Returns the only function of this file that a name can refer to. */
function functionOf(context: Context, node: ESTree.Identifier): ESTree.Node | undefined {
  const variable = variableOf(context, node);
  const [definition, ...others] = variable?.defs ?? [];
  if (!variable || definition?.type !== 'FunctionName' || others.length > 0) return undefined;
  const isWritten = variable.references.some((reference) => reference.isWrite());
  return isWritten ? undefined : (definition.node as ESTree.Node);
}

/** Returns the arguments of all callers for a parameter; undefined if the function is passed on, or exported. */
function givenBy(
  context: Context,
  fn: ESTree.Node,
  parameter: ESTree.Node,
): (ESTree.Node | undefined)[] | undefined {
  if (fn.type !== 'FunctionDeclaration' || fn.async || fn.generator) return undefined;
  const index = fn.params.indexOf(parameter as ESTree.Pattern);
  const isExported = parentOf(fn)?.type.startsWith('Export') === true;
  if (index < 0 || isExported || fn.id === null || functionOf(context, fn.id) !== fn)
    return undefined;
  const calls = usesOf(variableOf(context, fn.id)!).map((use) => {
    const call = parentOf(use);
    return call?.type === 'CallExpression' && call.callee === use ? call.arguments : undefined;
  });
  const isPlain = calls.every(
    (each) => each?.every(({ type }) => type !== 'SpreadElement') === true,
  );
  return isPlain ? calls.map((each) => each?.[index]) : undefined;
}

/** Returns the returned expressions; undefined if the function may end without a value. */
function returnedBy(fn: ESTree.Node): ESTree.Expression[] | undefined {
  if (!isFunction(fn) || fn.async || fn.generator) return undefined;
  if (fn.body.type !== 'BlockStatement') return [fn.body];
  if (fn.body.body.at(-1)?.type !== 'ReturnStatement') return undefined;
  const found: (ESTree.Expression | null | undefined)[] = [];
  const visit = (node: ESTree.Node): void => {
    if (node.type === 'ReturnStatement') found.push(node.argument);
    for (const [key, value] of Object.entries(node)) {
      if (key === 'parent') continue;
      for (const child of [value].flat() as (ESTree.Node | null | undefined)[]) {
        if (typeof child?.type === 'string' && !isFunction(child)) visit(child);
      }
    }
  };
  visit(fn.body);
  return found.every((each) => each != null) ? (found as ESTree.Expression[]) : undefined;
}
