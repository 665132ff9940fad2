import { testRule } from '../../../test/test-rule.ts';

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
      code: "const config = { name: 'x' }; const is = (user) => /^admin/.test(user.name);",
      suggested:
        "const config = { name: 'x' }; const is = (user) => user.name.startsWith('admin');",
    },
    {
      code: "const id = req.query.id || ''; if (/^adm/.test(id)) go();",
      suggested: "const id = req.query.id || ''; if (id.startsWith('adm')) go();",
    },
    {
      code: "let u; if (x) u = 'a'; if (/^adm/.test(u)) go();",
      suggested: "let u; if (x) u = 'a'; if (u.startsWith('adm')) go();",
    },
    {
      code: 'const u = given.trim(); if (/^adm/.test(u)) go();',
      suggested: "const u = given.trim(); if (u.startsWith('adm')) go();",
    },
    {
      code: "const u = `${given}`.trim().split(',').join(';'); if (/^adm/.test(u)) go();",
      fixed: "const u = `${given}`.trim().split(',').join(';'); if (u.startsWith('adm')) go();",
    },
    {
      code: 'const String = mine; const u = String(x); if (/^adm/.test(u)) go();',
      suggested: "const String = mine; const u = String(x); if (u.startsWith('adm')) go();",
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
