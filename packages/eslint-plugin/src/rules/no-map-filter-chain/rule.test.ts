import { testRule } from '../../../test/test-rule.ts';

testRule('no-map-filter-chain', {
  valid: ['users.map(f);', 'users.filter(f).length;', 'map(filter(users));'],
  invalid: [
    { code: 'users.filter(f).filter(g).map(h).map(i);' },
    { code: 'use(users.filter(f).map(g));' },
    { code: 'users.filter((u) => u.age > 18).map((u) => u.name);' },
    { code: 'users.map(f).filter(Boolean);' },
  ],
});
