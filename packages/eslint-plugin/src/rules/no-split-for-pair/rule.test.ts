import { testRule } from '../../../test/test-rule.ts';

testRule('no-split-for-pair', {
  valid: [
    "const parts = text.split('='); use(parts);",
    "const [a, b, c] = text.split('=');",
    "const [a, b] = text.split('');",
    'const [a, b] = text.split(/=/);',
    "const a = text.split('=')[0];",
  ],
  invalid: [
    {
      code: "const [name, value] = text.split('=');",
      suggested: [
        "const at = text.indexOf('='),",
        "  end = at === -1 ? -1 : text.indexOf('=', at + 1),",
        '  name = at === -1 ? text : text.slice(0, at),',
        '  value = at === -1 ? undefined : text.slice(at + 1, end === -1 ? text.length : end);',
      ].join('\n'),
    },
    {
      code: "function f(at) { let [name, value] = at.text.split(': '); }",
      suggested: [
        'function f(at) { let text = at.text,',
        "  cut = text.indexOf(': '),",
        "  end = cut === -1 ? -1 : text.indexOf(': ', cut + 2),",
        '  name = cut === -1 ? text : text.slice(0, cut),',
        '  value = cut === -1 ? undefined : text.slice(cut + 2, end === -1 ? text.length : end); }',
      ].join('\n'),
    },
    {
      code: "function f(o, text) {\n  var parts = text.split('=');\n  o[parts[0]] = parts[1];\n}",
      suggested: [
        'function f(o, text) {',
        "  var at = text.indexOf('='),",
        "    end = at === -1 ? -1 : text.indexOf('=', at + 1),",
        '    first = at === -1 ? text : text.slice(0, at),',
        '    second = at === -1 ? undefined : text.slice(at + 1, end === -1 ? text.length : end);',
        '  o[first] = second;',
        '}',
      ].join('\n'),
    },
    // Other code may access the variables of a script, or write to the parts.
    { code: "const parts = text.split('='); o[parts[0]] = parts[1];" },
    { code: "function f() { const parts = text.split('='); parts[0] = parts[1]; }" },
    { code: "function f() { const parts = text.split('='); parts[1](); }" },
    { code: "function f() { if (a) { var parts = text.split('='); } use(parts[1]); }" },
    { code: "const [name, value] = text.split('=', 1);" },
    { code: "for (const [name, value] = text.split('='); ; );" },
    { code: "const value = text.split('=')[1];" },
  ],
});
