import type * as ESTree from 'estree';
import { methodCall } from '../../ast/node.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

export const noMapDoubleLookup: RuleModule = defineRule(
  {
    name: 'no-map-double-lookup',
    advice: 'get the value once and test it for undefined: has and get search twice',
  },
  (report, context) => {
    const check = (node: ESTree.IfStatement | ESTree.ConditionalExpression): void => {
      const has = methodCall(node.test, 'has');
      if (!has || has.args.length !== 1) return;
      const text = (part: ESTree.Node): string => context.sourceCode.getText(part);
      const get = `${text(has.object)}.get(${text(has.args[0]!)})`;
      if (text(node.consequent).includes(get)) report(node.test);
    };
    return { IfStatement: check, ConditionalExpression: check };
  },
);
