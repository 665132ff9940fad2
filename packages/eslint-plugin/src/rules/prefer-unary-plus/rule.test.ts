import { testRule } from '../../../test/test-rule.ts';

testRule('prefer-unary-plus', {
  valid: ['parseInt(text, 16);', 'parseInt(...args);', 'const parseInt = mine; parseInt(text);'],
  invalid: [
    { code: 'const n = parseInt(text, 10);', suggested: 'const n = +text;' },
    { code: 'const n = parseInt(a || b);', suggested: 'const n = +(a || b);' },
  ],
});
