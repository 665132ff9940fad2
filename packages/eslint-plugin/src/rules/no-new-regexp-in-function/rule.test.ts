import { testRule } from '../../../test/test-rule.ts';

testRule('no-new-regexp-in-function', {
  valid: [
    "const re = new RegExp('a');",
    'function f(name) { return new RegExp(name); }',
    "function f() { const a = 'x' + g(); return new RegExp(a); }",
    "function f() { try { return new RegExp('[a--b]', 'v') && true; } catch { return false; } }",
    "function f() { try { new RegExp('(?<!a)b'); return true; } catch { return false; } }",
    "function f() { try { return new RegExp('(?i:a)b'); } catch { return null; } }",
    "function f() { try { return new RegExp('('); } catch { return null; } }",
  ],
  invalid: [
    {
      code: "function f(t) { return new RegExp('^/items/\\\\d+$', 'i').test(t); }",
      fixed: 'function f(t) { return /^\\/items\\/\\d+$/i.test(t); }',
    },
    {
      code: "function f(t) { try { return new RegExp('^a+$').test(t); } catch { return false; } }",
      fixed: 'function f(t) { try { return /^a+$/.test(t); } catch { return false; } }',
    },
    { code: "const f = () => RegExp('a');", fixed: 'const f = () => /a/;' },
    { code: "const word = 'a'; function f(t) { return new RegExp('^' + word).test(t); }" },
    { code: "function f() { return new RegExp('('); }" },
  ],
});
