import { testRule } from '../../../test/test-rule.ts';

testRule('hoist-regexp-literal', {
  valid: ['const re = /a/; function f(t) { return re.test(t); }'],
  invalid: [{ code: 'function f(t) { return /a/.test(t); }' }],
});
