import { testRule } from '../../../test/test-rule.ts';

testRule('prefer-date-now', {
  valid: [
    'Date.now();',
    'new Date(0).getTime();',
    'new Date().getHours();',
    'const Date = mine; +new Date();',
    'Date.now = Date.now || function () { return new Date().getTime(); };',
    "if (!Date.now) Date['now'] = () => +new Date();",
  ],
  invalid: [
    { code: 'const t = new Date().getTime();', fixed: 'const t = Date.now();' },
    { code: 'const t = +new Date();', fixed: 'const t = Date.now();' },
    { code: 'const t = Number(new Date());', fixed: 'const t = Date.now();' },
    { code: 'const f = () => { return+new Date }', fixed: 'const f = () => { return Date.now() }' },
    { code: 'const t = new Date().valueOf() - from;', fixed: 'const t = Date.now() - from;' },
  ],
});
