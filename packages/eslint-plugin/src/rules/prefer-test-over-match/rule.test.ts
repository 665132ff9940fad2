import { testRule } from '../../../test/test-rule.ts';

testRule('prefer-test-over-match', {
  valid: [
    'const m = text.match(/a/);',
    'if (text.match(read())) go();',
    'if (text.match(/a/)[0]) go();',
  ],
  invalid: [
    { code: 'if (url.match(/^a+$/)) go();', suggested: 'if (/^a+$/.test(url)) go();' },
    { code: 'const no = url.match(/a/) === null;', suggested: 'const no = !/a/.test(url);' },
    { code: 'const yes = url.match(/a/) !== null;', suggested: 'const yes = /a/.test(url);' },
    {
      code: 'if (`${url}`.match(/^a+$/)) go();',
      fixed: 'if (/^a+$/.test(`${url}`)) go();',
    },
    {
      code: 'if (row.title.match(/sale/)) go();',
      suggested: 'if (/sale/.test(row.title)) go();',
    },
    { code: 'if ((a, b).match(/x/)) go();', suggested: 'if (/x/.test((a, b))) go();' },
    { code: 'while (!url.match(pattern)) go();', suggested: 'while (!pattern.test(url)) go();' },
  ],
});
