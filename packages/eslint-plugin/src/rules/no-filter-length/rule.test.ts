import { testRule } from '../../../test/test-rule.ts';

testRule('no-filter-length', {
  valid: [
    'const n = xs.filter(f).length;',
    'if (xs.filter(f).length > 1) go();',
    'if (xs.length) go();',
  ],
  invalid: [
    {
      code: 'if (xs.filter((x) => x.open).length > 0) go();',
      suggested: 'if (xs.some((x) => x.open)) go();',
    },
    {
      code: 'const none = xs.filter((x) => x.open).length === 0;',
      suggested: 'const none = !xs.some((x) => x.open);',
    },
    {
      code: 'const any = !!xs.filter((x) => x.open).length;',
      suggested: 'const any = !!xs.some((x) => x.open);',
    },
    { code: 'while (xs.filter(isOpen).length) go();', suggested: 'while (xs.some(isOpen)) go();' },
  ],
});
