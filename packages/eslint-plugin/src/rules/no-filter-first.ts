import { isLiteral, isPureCallback, methodCall, parentOf } from '../ast/node.ts';
import { defineRule, type Edit, type RuleModule } from '../rule.ts';

export const noFilterFirst: RuleModule = defineRule(
  {
    name: 'no-filter-first',
    advice: 'use find: filter goes on to the end and makes an array for one element',
    fixes: true,
  },
  (report, context) => ({
    MemberExpression(node) {
      if (!node.computed || !isLiteral(node.property, 'number') || node.property.value !== 0)
        return;
      const call = methodCall(node.object, 'filter');
      const parent = parentOf(node);
      if (!call || call.args.length === 0) return;
      if (parent?.type === 'AssignmentExpression' && parent.left === node) return;
      const edit: Edit = (fixer) => {
        const args = call.args.map((arg) => context.sourceCode.getText(arg)).join(', ');
        return fixer.replaceText(node, `${context.sourceCode.getText(call.object)}.find(${args})`);
      };
      // A predicate that does something would do it less often.
      report(node, isPureCallback(call.args[0]) ? { fix: edit } : { suggest: edit });
    },
  }),
);
