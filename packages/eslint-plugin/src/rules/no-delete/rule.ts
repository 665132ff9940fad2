import type * as ESTree from 'estree';
import { parentOf } from '../../ast/node.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

export const noDelete: RuleModule = defineRule(
  {
    name: 'no-delete',
    advice: 'set the property to undefined: delete makes a dictionary of the object',
  },
  (report, context) => ({
    'UnaryExpression[operator="delete"]'(node: ESTree.UnaryExpression) {
      const { argument } = node;
      if (argument.type !== 'MemberExpression') return;
      // Keys that are added and removed repeatedly are covered by another rule.
      if (argument.computed && argument.property.type !== 'Literal') return;
      if (parentOf(node)?.type !== 'ExpressionStatement') return report(node);
      report(node, {
        suggest: (fixer) =>
          fixer.replaceText(node, `${context.sourceCode.getText(argument)} = undefined`),
      });
    },
  }),
);
