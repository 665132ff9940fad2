import { testRule } from '../../../test/test-rule.ts';

testRule('no-join-for-concat', {
  valid: [
    "parts.join('');",
    "[a].join('');",
    "[...parts, a].join('');",
    '[a, b].join();',
    "const usage = ['a', 'b'].join('\\n');",
    "const text = [\n  `Usage: ${name}`,\n  'and more',\n].join('\\n');",
  ],
  invalid: [
    {
      code: "const n = 1; const key = ['user', n, 'x'].join(':');",
      fixed: 'const n = 1; const key = `user:${n}:x`;',
    },
    {
      code: "const s = a || 'x'; const key = [s, '-'].join('');",
      suggested: "const s = a || 'x'; const key = `${s}-`;",
    },
    { code: "const key = [kind, ':', id].join('');", suggested: 'const key = `${kind}:${id}`;' },
    { code: "const key = ['`', a].join('');", suggested: 'const key = `\\`${a}`;' },
  ],
});
