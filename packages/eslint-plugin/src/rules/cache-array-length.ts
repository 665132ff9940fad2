import { defineRule, type RuleModule } from '../rule.ts';

export const cacheArrayLength: RuleModule = defineRule(
  { name: 'cache-array-length', advice: 'read the length once before the loop' },
  (report) => ({
    ForStatement({ test }) {
      if (test?.type !== 'BinaryExpression' || test.right.type !== 'MemberExpression') return;
      const { property, computed } = test.right;
      if (!computed && property.type === 'Identifier' && property.name === 'length') report(test);
    },
  }),
);
