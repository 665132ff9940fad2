import type * as ESTree from 'estree';
import { kindOf } from '../ast/kind.ts';
import { type Context, enclosingFunction, parentOf } from '../ast/node.ts';
import { constantValue, usesOf, variableOf } from '../ast/variable.ts';
import { defineRule, type RuleModule } from '../rule.ts';

export const preferMapForFreshKeys: RuleModule = defineRule(
  {
    name: 'prefer-map-for-fresh-keys',
    advice: 'count under keys that are put together in a Map instead of an object',
  },
  (report, context) => ({
    AssignmentExpression(node) {
      const { left } = node;
      if (left.type !== 'MemberExpression' || !left.computed || !enclosingFunction(node)) return;
      const variable = variableOf(context, left.object);
      const initial = variable && constantValue(variable);
      if (!variable || initial?.type !== 'ObjectExpression' || !enclosingFunction(initial)) return;
      if (!isPutTogether(context, left.property)) return;
      const isDeletedFrom = usesOf(variable).some(
        (use) => parentOf(parentOf(use)!)?.type === 'UnaryExpression',
      );
      if (!isDeletedFrom) report(node);
    },
  }),
);

/** A string that did not exist before: `a + b`, or a template. */
function isPutTogether(context: Context, node: ESTree.Node): boolean {
  if (node.type === 'TemplateLiteral') return node.expressions.length > 0;
  if (node.type === 'BinaryExpression') {
    return node.operator === '+' && kindOf(context, node) === 'string';
  }
  const variable = variableOf(context, node);
  const value = variable && constantValue(variable);
  return value !== undefined && value.type !== 'Identifier' && isPutTogether(context, value);
}
