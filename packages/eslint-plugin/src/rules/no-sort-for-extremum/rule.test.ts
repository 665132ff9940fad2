import { testRule } from '../../../test/test-rule.ts';

testRule('no-sort-for-extremum', {
  valid: [
    'xs.every((x) => x > 0) ? least(xs) : xs.slice().sort((a, b) => a - b)[0];',
    'xs.sort();',
    'xs.sort()[1];',
    'xs[0];',
    'xs.sort().at(1);',
  ],
  invalid: [
    {
      code: 'const least = xs.slice().sort((a, b) => a.age - b.age || b.id - a.id)[0];',
      suggested: [
        'const least = (xs.every((each) => each != null && Number.isFinite(each.age) && Number.isFinite(each.id))',
        '  ? xs.reduce((best, each) => best === undefined || (each.age - best.age || best.id - each.id) < 0 ? each : best, undefined)',
        '  : xs.slice().sort((a, b) => a.age - b.age || b.id - a.id)[0]);',
      ].join('\n'),
    },
    { code: 'xs.slice().sort((a, b) => a - b)[0];' },
    { code: 'xs.slice().sort((a, b) => a - b)[0] = x;' },
    { code: 'const first = xs.slice().sort((a, b) => a - b)[0]();' },
    // A parenthesis at the beginning of a statement may continue the line above.
    { code: 'const n = xs.length\nxs.slice().sort((a, b) => a.n - b.n)[0].run()' },
    { code: 'const n = xs.length\nxs.slice().sort((a, b) => a.n - b.n)[0].runs += 1' },
    { code: 'const n = xs.length\nxs.slice().sort((a, b) => a.n - b.n)[0].run(), done()' },
    {
      code: 'const n = xs.length\nuse(xs.slice().sort((a, b) => a - b)[0])',
      suggested: [
        'const n = xs.length',
        'use((xs.every((each) => each != null && Number.isFinite(each))',
        '  ? xs.reduce((least, each) => least === undefined || each - least < 0 ? each : least, undefined)',
        '  : xs.slice().sort((a, b) => a - b)[0]))',
      ].join('\n'),
    },
    // Other code sees an array that is sorted in place; a comparator may treat as equal elements that another one orders.
    { code: 'const first = xs.sort((a, b) => a - b)[0];' },
    { code: 'const first = read().slice().sort((a, b) => a - b)[0];' },
    { code: 'const first = xs.slice(1).sort((a, b) => a - b)[0];' },
    { code: 'const last = xs.slice().sort((a, b) => a - b).pop();' },
    { code: 'const first = xs.slice().sort()[0];' },
    { code: 'const first = xs.slice().sort(byAge)[0];' },
    { code: 'const first = xs.slice().sort((a, b) => (a < b ? -1 : 1))[0];' },
    { code: 'const first = xs.slice().sort((a, b) => a.of.age - b.of.age)[0];' },
    { code: 'const first = xs.slice().sort((a, b) => a.age - b.id)[0];' },
    { code: 'xs.toSorted().pop();' },
    { code: 'xs.sort().shift();' },
    { code: 'xs.sort().at(-1);' },
    { code: 'xs.sort().at(0);' },
  ],
});
