import { testRule } from '../../../test/test-rule.ts';

testRule('no-buffer-concat-in-loop', {
  valid: ['body = Buffer.concat(chunks);', 'body = Buffer.concat([a, b]);'],
  invalid: [
    { code: "req.on('data', (chunk) => { body = Buffer.concat([body, chunk]); });" },
    { code: 'this.body = Buffer.concat([this.body, chunk]);' },
  ],
});
