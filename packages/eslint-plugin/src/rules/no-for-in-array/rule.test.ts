import { testRule } from '../../../test/test-rule.ts';

testRule('no-for-in-array', {
  valid: [
    'for (var key in options) use(options[key]);',
    'var o = {}; for (var key in o) use(key);',
    'function f(list) { for (var i in list) use(list[i]); }',
    'for (const x of [1, 2]) use(x);',
  ],
  invalid: [
    {
      code: 'var a = []; for (var i in a) { use(a[i]); }',
      suggested: 'var a = []; for (var i = 0; i < a.length; i++) { use(a[i]); }',
    },
    {
      code: `function Router() { this.routes = []; }
Router.prototype.find = function () { for (var i in this.routes) use(i); };`,
      suggested: `function Router() { this.routes = []; }
Router.prototype.find = function () { for (var i = 0; i < this.routes.length; i++) use(i); };`,
    },
    {
      code: 'function f(list) { if (list.length) for (const i in list) use(list[i]); }',
      suggested:
        'function f(list) { if (list.length) for (let i = 0; i < list.length; i++) use(list[i]); }',
    },
    {
      code: "const a = text.split(','); let i; for (i in a) use(a[i]);",
      suggested: "const a = text.split(','); let i; for (i = 0; i < a.length; i++) use(a[i]);",
    },
    { code: "for (var i in text.split(',')) use(i);" },
  ],
});
