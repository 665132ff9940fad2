import { testRule } from '../test-rule.ts';

testRule('prefer-structured-clone', {
  valid: ['JSON.parse(text);', 'JSON.parse(JSON.stringify(a, keys));'],
  invalid: [
    {
      code: 'const copy = JSON.parse(JSON.stringify(order));',
      suggested: 'const copy = structuredClone(order);',
    },
  ],
});
