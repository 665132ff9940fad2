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
      suggested:
        "const at = text.indexOf('='), name = text.slice(0, at), value = text.slice(at + 1);",
    },
    {
      code: "function f(at) { let [name, value] = at.text.split(': '); }",
      suggested:
        "function f(at) { let split = at.text.indexOf(': '), name = at.text.slice(0, split), value = at.text.slice(split + 2); }",
    },
    { code: "const parts = text.split('='); o[parts[0]] = parts[1];" },
    { code: "const value = text.split('=')[1];" },
    { code: "const [name, value] = read().split('=');" },
  ],
});
