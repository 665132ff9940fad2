import { enclosingFunction } from '../ast/node.ts';
import { defineRule, type RuleModule } from '../rule.ts';

export const noTryCatch: RuleModule = defineRule(
  { name: 'no-try-catch', advice: 'keep try and catch out of the function' },
  (report) => ({
    TryStatement(node) {
      if (node.handler && enclosingFunction(node)) report(node);
    },
  }),
);
