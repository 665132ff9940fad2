import { testRule } from '../../../test/test-rule.ts';

const given = (regexp: string): string => `function is(text) { return ${regexp}.test(text); }`;

testRule('no-super-linear-regexp', {
  valid: [
    // Validators in use, in linear time.
    ...[
      '/^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i',
      '/^[0-9a-f]{24}$/',
      '/^[a-z0-9]+(?:-[a-z0-9]+)*$/',
      '/^\\d{4}-\\d{2}-\\d{2}$/',
      '/^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?(?:Z|[+-]\\d{2}:\\d{2})$/',
      '/^(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?:\\.(?!$)|$)){4}$/',
      '/^(?:[a-f0-9]{1,4}:){7}[a-f0-9]{1,4}$/i',
      '/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i',
      '/^[A-Z]{2}\\d{2}[A-Z0-9]{11,30}$/',
      '/^\\+?[1-9]\\d{1,14}$/',
      "/^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/",
      '/^[^\\s@]+@[^\\s@]+$/',
      '/^(?=.*[a-z])(?=.*[A-Z])(?=.*\\d).{8,}$/',
      '/^-?\\d+(?:\\.\\d+)?$/',
      '/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/',
      '/^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$/',
      '/^v?(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\\+([0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?$/',
      '/^https?:\\/\\/[^\\s/?#]+(?:[/?#]\\S*)?$/',
      '/^Bearer ([\\w.~+/-]+=*)$/',
      '/^\\/api\\/v\\d+\\/users\\/([^/]+)\\/?$/',
      '/^(\\d{1,2}):(\\d{2})(?::(\\d{2}))?$/',
      '/^[A-Z][a-z]+(?: [A-Z][a-z]+)*$/',
      '/^\\$?\\d{1,3}(?:,\\d{3})*(?:\\.\\d{2})?$/',
      '/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]{2,}$/i',
      '/^"(?:[^"\\\\]|\\\\.)*"$/',
      '/^(?:read|write|admin)(?:,(?:read|write|admin))*$/',
      '/(?:a|aa)*/',
    ].map(given),
    // Text that nobody outside chooses.
    "/^(a+)+$/.test('aaa');",
    'const all = names().filter((name) => /^(a+)+$/.test(name));',
    'if (/^(a+)+$/.test(process.env.NAME)) go();',
    // A polynomial of a short text is small.
    'function is(text) { if (text.length > 100) return false; return /^\\d+\\d+$/.test(text); }',
    'function is(text) { return /^\\d+\\d+$/.test(text.slice(0, 100)); }',
    // Slow only because it is searched for from each start.
    'function trimmed(text) { return text.replace(/\\s+$/, ""); }',
    'new RegExp("(");',
    'function is(text, pattern) { return new RegExp(pattern).test(text); }',
  ],
  invalid: [
    ...[
      '/^(a+)+$/',
      '/^(\\w+\\s?)*$/',
      '/^([a-z]+)*$/',
      '/^(a|aa)+$/',
      '/^(a|\\w)*$/',
      '/^(?:a|b|ab)*c/',
      '/(x+x+)+y/',
      '/^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$/',
      '/^(([a-z])+.)+[A-Z]([a-z])+$/',
      '/^([\\w-]+\\.?)+@[a-z]+$/i',
      '/^(?:[^\\/]+\\/?)*$/',
      '/^(\\d+,?)+$/',
      '/^(?:\\s*\\w+\\s*,?)*$/',
      '/^([^=]+=[^&]+&?)*$/',
      '/^(.*,)*x$/',
      '/^\\d+\\d+$/',
      '/^\\s*.*?\\s*$/',
      '/^.*a.*b.*c$/',
    ].map((regexp) => ({ code: given(regexp) })),
    { code: "app.get('/', (req, res) => res.send(/^(a+)+$/.test(req.query.name)));" },
    { code: "const re = /^(a+)+$/; app.get('/', (c) => c.text(c.req.query('q').match(re)));" },
    { code: 'const { name } = request.body; if (/^(a+)+$/.exec(name)) go();' },
    { code: 'const name = String(ctx.query.name || "").trim(); name.replace(/^(a+)+$/g, "");' },
    { code: 'const user = z.object({ name: z.string().regex(/^(a+)+$/) });' },
    { code: 'const re = new RegExp("^(a+)+$", "i"); const is = (text) => re.test(text);' },
    {
      code: 'body.names.forEach((name) => use(name)); const ok = (all) => all.every((name) => /^(a+)+$/.test(name));',
    },
    {
      code: 'function is(text) { if (text.length > 100) return false; return /^(a+)+$/.test(text); }',
    },
  ],
});
