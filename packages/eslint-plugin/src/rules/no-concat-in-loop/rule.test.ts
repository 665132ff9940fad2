import { testRule } from '../../../test/test-rule.ts';

testRule('no-concat-in-loop', {
  valid: [
    'let a = []; a = a.concat(b);',
    'for (const x of xs) text = text + x;',
    "let s = ''; for (const x of xs) s = s.concat(x);",
    'for (const x of xs) a = b.concat(x);',
  ],
  invalid: [
    {
      code: 'let a = []; for (const x of xs) a = a.concat([x]);',
      suggested: 'let a = []; for (const x of xs) a.push(...[x]);',
    },
    {
      code: 'let a = []; for (const x of xs) a = [...a, x, 1];',
      suggested: 'let a = []; for (const x of xs) a.push(x, 1);',
    },
    {
      code: 'let a = []; xs.forEach((x) => { a = a.concat(x.length); });',
      suggested: 'let a = []; xs.forEach((x) => { a.push(x.length); });',
    },
    { code: 'let a = []; while (more()) a = a.concat(next());' },
  ],
});
