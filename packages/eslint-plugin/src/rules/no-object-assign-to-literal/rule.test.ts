import { testRule } from '../../../test/test-rule.ts';

testRule('no-object-assign-to-literal', {
  valid: [
    'Object.assign(target, a);',
    'Object.assign({ a: 1 }, b);',
    'Object.assign({});',
    'const Object = mine; Object.assign({}, a);',
    'Object.assign({}, ...all);',
  ],
  invalid: [
    { code: 'const copy = Object.assign({}, options);', suggested: 'const copy = { ...options };' },
    {
      code: 'const copy = () => Object.assign({}, a, b);',
      suggested: 'const copy = () => ({ ...a, ...b });',
    },
    { code: 'use(Object.assign({}, a, { b: 1 }));', suggested: 'use({ ...a, ...{ b: 1 } });' },
    { code: 'Object.assign({}, a).b();', suggested: '({ ...a }).b();' },
  ],
});
