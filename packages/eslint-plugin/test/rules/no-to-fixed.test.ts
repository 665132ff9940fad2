import { testRule } from '../test-rule.ts';

testRule('no-to-fixed', {
  valid: ['+price.toFixed(2);', 'Number(price.toFixed(2));', 'price.toFixed(digits);'],
  invalid: [
    {
      code: "const label = price.toFixed(2) + ' EUR';",
      suggested: "const label = String(Math.round(price * 100) / 100) + ' EUR';",
    },
  ],
});
