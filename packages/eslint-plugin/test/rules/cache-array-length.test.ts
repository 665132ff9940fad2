import { testRule } from '../test-rule.ts';

testRule('cache-array-length', {
  valid: ['for (let i = 0, n = a.length; i < n; i++) use(i);', 'while (i < a.length) i++;'],
  invalid: [{ code: 'for (let i = 0; i < a.length; i++) use(i);' }],
});
