import { testRule } from '../../../test/test-rule.ts';

testRule('no-new-regexp-in-function', {
  valid: [
    "const re = new RegExp('a');",
    'function f(name) { return new RegExp(name); }',
    "function f() { const a = 'x' + g(); return new RegExp(a); }",
    "function f() { try { return new RegExp('[a--b]', 'v') && true; } catch { return false; } }",
  ],
  invalid: [
    {
      code: "function f(t) { return new RegExp('^/items/\\\\d+$', 'i').test(t); }",
      fixed: 'function f(t) { return /^\\/items\\/\\d+$/i.test(t); }',
    },
    { code: "const f = () => RegExp('a');", fixed: 'const f = () => /a/;' },
    { code: "const word = 'a'; function f(t) { return new RegExp('^' + word).test(t); }" },
    { code: "function f() { return new RegExp('('); }" },
  ],
});
