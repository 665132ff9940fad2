import { testRule } from '../../../test/test-rule.ts';

testRule('no-sort-for-extremum', {
  valid: ['xs.sort();', 'xs.sort()[1];', 'xs[0];', 'xs.sort().at(1);'],
  invalid: [
    { code: 'xs.slice().sort((a, b) => a - b)[0];' },
    { code: 'xs.toSorted().pop();' },
    { code: 'xs.sort().shift();' },
    { code: 'xs.sort().at(-1);' },
    { code: 'xs.sort().at(0);' },
  ],
});
