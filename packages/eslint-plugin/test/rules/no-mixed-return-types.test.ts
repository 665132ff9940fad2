import { testRule } from '../test-rule.ts';

testRule('no-mixed-return-types', {
  valid: [
    'function f(v) { return v > 1 ? v : 0; }',
    "function f(v) { return v ? 'a' : 'b'; }",
    'function f(v) { if (v) return 1; return unknown; }',
    'return_ = 1;',
  ],
  invalid: [
    {
      code: "function pad(val) { return val >= 10 ? val : '0' + val; }",
      suggested: "function pad(val) { return (val >= 10 ? '' : '0') + val; }",
    },
    {
      code: "function pad(val) { return val < 10 ? '0' + val : val; }",
      suggested: "function pad(val) { return (val < 10 ? '0' : '') + val; }",
    },
    { code: "function f(v) { return v ? 1 : 'none'; }" },
    { code: "function f(v) { if (v) return 0; return ''; }" },
  ],
});
