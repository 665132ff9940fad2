import { isFunction, methodCall } from '../ast/node.ts';
import { defineRule, type RuleModule } from '../rule.ts';

export const noArrayReduce: RuleModule = defineRule(
  {
    name: 'no-array-reduce',
    advice: 'gather the result in a loop: reduce calls a function for each element',
  },
  (report) => ({
    CallExpression(node) {
      const call = methodCall(node, 'reduce', 'reduceRight');
      if (call && isFunction(call.args[0])) report(node);
    },
  }),
);
