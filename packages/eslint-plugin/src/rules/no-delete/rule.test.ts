import { testRule } from '../../../test/test-rule.ts';

testRule('no-delete', {
  valid: ['o.name = undefined;', 'delete o[key];', 'm.delete(key);'],
  invalid: [
    { code: 'delete user.password;', suggested: 'user.password = undefined;' },
    { code: "delete user['password'];", suggested: "user['password'] = undefined;" },
    { code: 'const gone = delete user.password;' },
  ],
});
