import { testRule } from '../../../test/test-rule.ts';

testRule('no-map-double-lookup', {
  valid: [
    'if (m.has(k)) use(k);',
    'if (m.has(k)) use(m.get(other));',
    'if (set.has(k)) go(); else m.get(k);',
  ],
  invalid: [
    { code: 'function f(k) { if (m.has(k)) return m.get(k); }' },
    { code: 'const v = m.has(k) ? m.get(k) : 0;' },
  ],
});
