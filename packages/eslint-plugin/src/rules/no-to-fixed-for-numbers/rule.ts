import type * as ESTree from 'estree';
import { isGlobal, isLiteral, methodCall, parentOf } from '../../ast/node.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

export const noToFixedForNumbers: RuleModule = defineRule(
  {
    name: 'no-to-fixed-for-numbers',
    advice: 'round with Math.round: toFixed writes a string that is then parsed again',
  },
  (report, context) => ({
    CallExpression(node) {
      const call = methodCall(node, 'toFixed');
      const parent = parentOf(node);
      if (!call || !parent || !readsNumber(parent)) return;
      const [digits] = call.args;
      const places =
        digits === undefined ? 0 : isLiteral(digits, 'number') ? Number(digits.value) : undefined;
      if (places === undefined) return report(parent);
      report(parent, {
        suggest: (fixer) => {
          const value = context.sourceCode.getText(call.object);
          const factor = 10 ** places;
          const product = /^(?:Identifier|MemberExpression|CallExpression)$/.test(call.object.type)
            ? value
            : `(${value})`;
          return fixer.replaceText(
            parent,
            places === 0
              ? `Math.round(${value})`
              : `Math.round(${product} * ${factor}) / ${factor}`,
          );
        },
      });

      function readsNumber(reader: ESTree.Node): boolean {
        if (reader.type === 'UnaryExpression') return reader.operator === '+';
        if (reader.type !== 'CallExpression' || reader.arguments[0] !== node) return false;
        return ['Number', 'parseFloat'].some((name) => isGlobal(context, reader.callee, name));
      }
    },
  }),
);
