import { testRule } from '../test-rule.ts';

testRule('prefer-object-keys', {
  valid: [
    'function f(list) { for (var i in list) use(list.length); }',
    'Object.keys(o).forEach(use);',
    'var a = []; for (var i in a) use(i);',
  ],
  invalid: [{ code: 'for (var key in o) use(key);' }],
});
