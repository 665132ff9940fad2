import { testRule } from '../../../test/test-rule.ts';

testRule('no-to-fixed-for-numbers', {
  valid: ['price.toFixed(2);', 'Number(price);', 'parse(price.toFixed(2));'],
  invalid: [
    { code: 'const p = +price.toFixed(2);', suggested: 'const p = Math.round(price * 100) / 100;' },
    {
      code: 'const p = Number((a + b).toFixed(1));',
      suggested: 'const p = Math.round((a + b) * 10) / 10;',
    },
    {
      code: 'const p = parseFloat(item.price.toFixed());',
      suggested: 'const p = Math.round(item.price);',
    },
    { code: 'const p = +price.toFixed(digits);' },
  ],
});
