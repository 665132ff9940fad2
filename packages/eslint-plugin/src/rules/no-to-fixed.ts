import { isGlobal, isLiteral, methodCall, parentOf } from '../ast/node.ts';
import { defineRule, type RuleModule } from '../rule.ts';

export const noToFixed: RuleModule = defineRule(
  { name: 'no-to-fixed', advice: 'write a rounded number with Math.round instead of toFixed' },
  (report, context) => ({
    CallExpression(node) {
      const call = methodCall(node, 'toFixed');
      const [digits] = call?.args ?? [];
      const reader = parentOf(node);
      if (!call || !isLiteral(digits, 'number') || !reader) return;
      // A number that is read again is a question for another rule.
      if (reader.type === 'UnaryExpression') return;
      if (
        reader.type === 'CallExpression' &&
        ['Number', 'parseFloat'].some((name) => isGlobal(context, reader.callee, name))
      )
        return;
      report(node, {
        suggest: (fixer) => {
          const factor = 10 ** Number(digits.value);
          return fixer.replaceText(
            node,
            `String(Math.round(${context.sourceCode.getText(call.object)} * ${factor}) / ${factor})`,
          );
        },
      });
    },
  }),
);
