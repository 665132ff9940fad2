import { testRule } from '../../../test/test-rule.ts';

testRule('no-filter-first', {
  valid: ['xs.filter(f)[1];', 'xs.find(f);', 'xs.filter(f)[0] = 1;', 'xs.filter()[0];'],
  invalid: [
    {
      code: 'const a = xs.filter((x) => x.id === id)[0];',
      suggested: 'const a = xs.find((x) => x.id === id);',
    },
    {
      code: "const link = $('a').filter((i, el) => el.href === '/x')[0];",
      suggested: "const link = $('a').find((i, el) => el.href === '/x');",
    },
    { code: 'const a = xs.filter(isOpen)[0];', suggested: 'const a = xs.find(isOpen);' },
    {
      code: 'const a = xs.filter((x) => seen.add(x))[0].id;',
      suggested: 'const a = xs.find((x) => seen.add(x)).id;',
    },
  ],
});
