import { testRule } from '../../../test/test-rule.ts';

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
      suggested:
        "function f(url) { return (url.indexOf('?') === -1 ? url : url.slice(0, url.indexOf('?'))); }",
    },
    {
      code: "const url = String(given); const path = url.split('?')[0];",
      fixed:
        "const url = String(given); const path = (url.indexOf('?') === -1 ? url : url.slice(0, url.indexOf('?')));",
    },
    {
      code: "const url = String(given)\nurl.split('?')[0].trim()",
      suggested:
        "const url = String(given)\n(url.indexOf('?') === -1 ? url : url.slice(0, url.indexOf('?'))).trim()",
    },
    {
      code: "const url = String(given); use(url.split('?')/* the path */[0]);",
      suggested:
        "const url = String(given); use((url.indexOf('?') === -1 ? url : url.slice(0, url.indexOf('?'))));",
    },
    {
      code: "const path = req.url.split('?')[0];",
      suggested:
        "const path = (req.url.indexOf('?') === -1 ? req.url : req.url.slice(0, req.url.indexOf('?')));",
    },
    { code: "const path = urlOf(req).split('?')[0];" },
  ],
});
