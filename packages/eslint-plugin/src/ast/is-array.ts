import type * as ESTree from 'estree';
import { kindOf } from './kind.ts';
import { type Context, parentOf } from './node.ts';
import { usesOf, variableOf } from './variable.ts';

const arrayMembers =
  /^(?:length|push|pop|shift|unshift|splice|forEach|map|filter|reduce|concat|sort)$/;

/** True if this file shows that a value is an array. */
export function isArray(context: Context, node: ESTree.Node): boolean {
  return kindOf(context, node) === 'array' || isUsedAsArray(context, node);
}

/** Checks the uses of a parameter, whose declaration says nothing about its type. */
function isUsedAsArray(context: Context, node: ESTree.Node): boolean {
  const variable = variableOf(context, node);
  if (variable?.defs[0]?.type !== 'Parameter') return false;
  return usesOf(variable).some((use) => {
    const parent = parentOf(use);
    if (parent?.type !== 'MemberExpression' || parent.object !== use || parent.computed)
      return false;
    return parent.property.type === 'Identifier' && arrayMembers.test(parent.property.name);
  });
}
