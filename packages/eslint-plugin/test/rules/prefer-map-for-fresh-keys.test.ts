import { testRule } from '../test-rule.ts';

testRule('prefer-map-for-fresh-keys', {
  valid: [
    'function f(key) { const o = {}; o[key] = 1; }',
    "const o = {}; function f(a) { o['x' + a] = 1; }",
    "function f(a) { const m = new Map(); m.set('x' + a, 1); }",
  ],
  invalid: [
    { code: "function f(a) { const o = {}; o[a.id + ':' + a.kind] = 1; return o; }" },
    {
      code: 'function f(a) { const o = {}; const key = `${a.id}:${a.kind}`; o[key] = 1; return o; }',
    },
  ],
});
