import { isGlobal, isLiteral } from '../../ast/node.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

export const preferUnaryPlus: RuleModule = defineRule(
  { name: 'prefer-unary-plus', advice: 'read a number with a unary plus instead of parseInt' },
  (report, context) => ({
    CallExpression(node) {
      const [text, radix, ...others] = node.arguments;
      if (!text || text.type === 'SpreadElement' || others.length > 0) return;
      if (!isGlobal(context, node.callee, 'parseInt')) return;
      if (radix && !(isLiteral(radix, 'number') && radix.value === 10)) return;
      report(node, {
        suggest: (fixer) => {
          const value = context.sourceCode.getText(text);
          const isSimple = /^(?:Identifier|MemberExpression|CallExpression)$/.test(text.type);
          return fixer.replaceText(node, isSimple ? `+${value}` : `+(${value})`);
        },
      });
    },
  }),
);
