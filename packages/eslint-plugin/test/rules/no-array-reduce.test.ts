import { testRule } from '../test-rule.ts';

testRule('no-array-reduce', {
  valid: ['store.reduce(action);', 'for (const x of xs) sum += x;'],
  invalid: [
    { code: 'xs.reduce((sum, x) => sum + x, 0);' },
    { code: 'xs.reduceRight(function (a, b) { return a + b; });' },
  ],
});
