import { testRule } from '../test-rule.ts';

testRule('no-bind', {
  valid: ['const f = g.bind(o);', 'function f() { bind(o); }'],
  invalid: [{ code: 'function f() { return g.bind(this); }' }],
});
