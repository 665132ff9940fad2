import { testRule } from '../test-rule.ts';

testRule('no-split-for-first', {
  valid: [
    "text.split('?')[1];",
    "text.split('')[0];",
    "text.split('?', 1)[0];",
    'text.split(/x/)[0];',
  ],
  invalid: [
    {
      code: "function f(url) { return url.split('?')[0]; }",
      fixed:
        "function f(url) { return (url.indexOf('?') === -1 ? url : url.slice(0, url.indexOf('?'))); }",
    },
    {
      code: "const path = req.url.split('?')[0];",
      suggested:
        "const path = (req.url.indexOf('?') === -1 ? req.url : req.url.slice(0, req.url.indexOf('?')));",
    },
    { code: "const path = urlOf(req).split('?')[0];" },
  ],
});
