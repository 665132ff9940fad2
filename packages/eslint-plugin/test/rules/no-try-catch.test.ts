import { testRule } from '../test-rule.ts';

testRule('no-try-catch', {
  valid: [
    'try { load(); } catch (e) { stop(); }',
    'function f() { try { g(); } finally { h(); } }',
  ],
  invalid: [{ code: 'function f() { try { g(); } catch (e) { h(e); } }' }],
});
