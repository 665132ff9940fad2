import { testRule } from '../../../test/test-rule.ts';

testRule('prefer-date-now', {
  valid: [
    'Date.now();',
    'new Date(0).getTime();',
    'new Date().getHours();',
    'const Date = mine; +new Date();',
    'Date.now = Date.now || function () { return new Date().getTime(); };',
    "if (!Date.now) Date['now'] = () => +new Date();",
    'function now() { return new Date().getTime(); } if (!Date.now) Date.now = now;',
    'const now = Date.now || function () { return new Date().getTime(); };',
    'var now = Date.now ? Date.now : () => +new Date();',
    "var now = typeof Date.now === 'function' ? Date.now : () => +new Date();",
    'function now() { if (Date.now) return Date.now(); return new Date().getTime(); }',
    "Object.defineProperty(Date, 'now', { value: () => new Date().valueOf() });",
    'defineProperties(Date, { now: function now() { return new Date().getTime(); } });',
    "if (!('now' in Date)) { setClock(() => +new Date()); }",
  ],
  invalid: [
    {
      code: 'use(Date.now); const t = +new Date();',
      fixed: 'use(Date.now); const t = Date.now();',
    },
    {
      code: 'const from = Date.now() || 0; const t = +new Date();',
      fixed: 'const from = Date.now() || 0; const t = Date.now();',
    },
    { code: 'const t = new Date().getTime();', fixed: 'const t = Date.now();' },
    { code: 'const t = +new Date();', fixed: 'const t = Date.now();' },
    { code: 'const t = Number(new Date());', fixed: 'const t = Date.now();' },
    { code: 'const f = () => { return+new Date }', fixed: 'const f = () => { return Date.now() }' },
    { code: 'const t = new Date().valueOf() - from;', fixed: 'const t = Date.now() - from;' },
  ],
});
