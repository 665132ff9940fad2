import { enclosingFunction } from '../../ast/node.ts';
import { defineRule, type RuleModule } from '../../rule.ts';

export const hoistRegexpLiteral: RuleModule = defineRule(
  { name: 'hoist-regexp-literal', advice: 'move the regular expression out of the function' },
  (report) => ({
    Literal(node) {
      if ('regex' in node && enclosingFunction(node)) report(node);
    },
  }),
);
