import { testRule } from '../test-rule.ts';

testRule('no-regexp-for-prefix', {
  valid: [
    '/^a.c/.test(text);',
    '/^abc/i.test(text);',
    '/^a|b/.test(text);',
    '/^\\d/.test(text);',
    're.test(text);',
    '/^abc$/.test(text);',
  ],
  invalid: [
    {
      code: 'const u = String(x); if (/^\\/api\\//.test(u)) go();',
      fixed: "const u = String(x); if (u.startsWith('/api/')) go();",
    },
    {
      code: 'if (/^\\/api\\//.test(req.url)) go();',
      suggested: "if (req.url.startsWith('/api/')) go();",
    },
    { code: 'if (/\\.json$/.test(name)) go();', suggested: "if (name.endsWith('.json')) go();" },
    {
      code: "if (/^it's/.test(a + b)) go();",
      suggested: "if ((a + b).startsWith('it\\'s')) go();",
    },
  ],
});
