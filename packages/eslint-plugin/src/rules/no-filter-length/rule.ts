import type * as ESTree from 'estree';
import { isBooleanContext, isLiteral, methodCall, parentOf } from '../../ast/node.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

export const noFilterLength: RuleModule = defineRule(
  {
    name: 'no-filter-length',
    advice: 'use some: filter scans to the end and creates an array only to count it',
  },
  (report, context) => ({
    MemberExpression(node) {
      if (node.computed || node.property.type !== 'Identifier' || node.property.name !== 'length')
        return;
      const call = methodCall(node.object, 'filter');
      const asked = call && emptinessTest(node);
      if (!call || !asked) return;
      // Never in place, for the reasons given in no-filter-first.
      report(asked.node, {
        suggest: (fixer) => {
          const args = call.args.map((arg) => context.sourceCode.getText(arg)).join(', ');
          const some = `${context.sourceCode.getText(call.object)}.some(${args})`;
          return fixer.replaceText(asked.node, asked.none ? `!${some}` : some);
        },
      });
    },
  }),
);

/** Returns the expression that tests for any element, or for none. */
function emptinessTest(length: ESTree.Node): { node: ESTree.Node; none: boolean } | undefined {
  if (isBooleanContext(length)) return { node: length, none: false };
  const parent = parentOf(length);
  if (parent?.type !== 'BinaryExpression' || parent.left !== length) return undefined;
  if (!isLiteral(parent.right, 'number')) return undefined;
  const comparison = `${parent.operator} ${parent.right.value}`;
  if (['> 0', '!== 0', '!= 0', '>= 1'].includes(comparison)) return { node: parent, none: false };
  if (['=== 0', '== 0', '< 1'].includes(comparison)) return { node: parent, none: true };
  return undefined;
}
