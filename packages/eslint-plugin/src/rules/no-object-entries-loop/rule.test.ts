import { testRule } from '../../../test/test-rule.ts';

testRule('no-object-entries-loop', {
  valid: [
    'for (const key of Object.keys(o)) use(key);',
    'const all = Object.entries(o);',
    'for (const e of m.entries()) use(e);',
  ],
  invalid: [
    {
      code: 'for (const [key, value] of Object.entries(o)) { use(key, value); }',
      suggested: 'for (const key of Object.keys(o)) { const value = o[key]; use(key, value); }',
    },
    { code: 'for (const entry of Object.entries(o)) use(entry);' },
    { code: 'for (const [k, v] of Object.entries(load())) { use(k, v); }' },
    { code: 'Object.entries(o).forEach(([k, v]) => use(k, v));' },
  ],
});
