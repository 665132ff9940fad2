import { isLiteral, methodCall, parentOf } from '../../ast/node.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

export const noFilterFirst: RuleModule = defineRule(
  {
    name: 'no-filter-first',
    advice: 'use find: filter scans to the end and creates an array for one element',
  },
  (report, context) => ({
    MemberExpression(node) {
      if (!node.computed || !isLiteral(node.property, 'number') || node.property.value !== 0)
        return;
      const call = methodCall(node.object, 'filter');
      const parent = parentOf(node);
      if (!call || call.args.length === 0) return;
      if (parent?.type === 'AssignmentExpression' && parent.left === node) return;
      // Never in place: collections of other libraries filter too (`$('a').filter(…)`), and a predicate that throws or has an
      // effect at a later element no longer reaches it.
      report(node, {
        suggest: (fixer) => {
          const args = call.args.map((arg) => context.sourceCode.getText(arg)).join(', ');
          return fixer.replaceText(
            node,
            `${context.sourceCode.getText(call.object)}.find(${args})`,
          );
        },
      });
    },
  }),
);
