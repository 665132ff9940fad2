import { testRule } from '../../../test/test-rule.ts';

testRule('prefer-generated-serializer', {
  valid: [
    'function f(o) { return JSON.stringify(o); }',
    'JSON.stringify({ a: 1 });',
    'function f(k) { return JSON.stringify({ [k]: 1 }); }',
    'function f(o) { return JSON.stringify({ ...o }); }',
    'function f(o) { return JSON.stringify({ id: o.id }, null, 2); }',
    'function f(o, keep) { return JSON.stringify({ id: o.id }, keep); }',
  ],
  invalid: [{ code: 'function f(o) { return JSON.stringify({ id: o.id, name: o.name }); }' }],
});
