import { isArray } from '../ast/is-array.ts';
import { defineRule, type RuleModule } from '../rule.ts';

export const preferObjectKeys: RuleModule = defineRule(
  { name: 'prefer-object-keys', advice: 'walk Object.keys(…) instead of for…in' },
  (report, context) => ({
    ForInStatement(node) {
      if (!isArray(context, node.right)) report(node);
    },
  }),
);
