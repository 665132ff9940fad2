import { kindOf } from '../ast/kind.ts';
import { enclosingFunction } from '../ast/node.ts';
import { defineRule, type RuleModule } from '../rule.ts';

export const noComputedDispatch: RuleModule = defineRule(
  {
    name: 'no-computed-dispatch',
    advice: 'generate a switch over the names instead of looking the function up',
  },
  (report, context) => ({
    CallExpression(node) {
      const { callee } = node;
      if (callee.type !== 'MemberExpression' || !callee.computed || !enclosingFunction(node))
        return;
      if (callee.property.type === 'Literal') return;
      if (kindOf(context, callee.property) === 'number') return;
      const kind = kindOf(context, callee.object);
      if (kind === 'object') report(node);
    },
  }),
);
