import { enclosingFunction, methodCall } from '../ast/node.ts';
import { defineRule, type RuleModule } from '../rule.ts';

export const noBind: RuleModule = defineRule(
  { name: 'no-bind', advice: 'write an arrow function instead of calling bind' },
  (report) => ({
    CallExpression(node) {
      if (methodCall(node, 'bind') && enclosingFunction(node)) report(node);
    },
  }),
);
