import { testRule } from '../../../test/test-rule.ts';

testRule('no-shift-in-loop', {
  valid: [
    'queue.shift();',
    'while (running) queue.shift();',
    'while (queue.length) { jobs.push(() => queue.shift()); }',
  ],
  invalid: [
    { code: 'while (queue.length > 0) { run(queue.shift()); }' },
    { code: 'for (; queue.length; ) queue.shift();' },
    { code: 'while ((job = queue.shift())) run(job);' },
  ],
});
