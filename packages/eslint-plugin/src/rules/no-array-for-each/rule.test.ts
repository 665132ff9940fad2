import { testRule } from '../../../test/test-rule.ts';

testRule('no-array-for-each', {
  valid: [
    'for (const x of xs) use(x);',
    'const m = new Map(); m.forEach((v) => use(v));',
    'new Set().forEach(use);',
    "new URLSearchParams('a=1').forEach((value) => use(value));",
    "document.querySelectorAll('a').forEach((each) => use(each));",
    'function f() { const headers = new Headers(); headers.forEach((value) => use(value)); }',
    "const _ = require('lodash'); _.forEach(xs, (x) => use(x));",
    "import { Map } from 'immutable'; const m = Map(); m.forEach((v) => use(v));",
    "const $ = require('cheerio').load(page); $('a').forEach((x) => use(x));",
    'xs.values().forEach((x) => use(x));',
    'this.byName = new Map(); this.byName.forEach((v) => use(v));',
    'cache.forEach((value, key, map) => map.delete(key));',
  ],
  invalid: [
    {
      code: 'xs.forEach((x) => { use(x); });',
      suggested: 'for (let i = 0; i < xs.length; i++) { const x = xs[i]; use(x); }',
    },
    {
      code: 'xs.forEach(function (x, n) { use(x, n); });',
      suggested: 'for (let n = 0; n < xs.length; n++) { const x = xs[n]; use(x, n); }',
    },
    {
      code: 'this.xs.forEach((x) => use(x, i));',
      suggested: 'for (let j = 0; j < this.xs.length; j++) { const x = this.xs[j]; use(x, i); }',
    },
    { code: 'xs.forEach((x) => { if (x) return; use(x); });' },
    { code: 'xs.forEach(use);' },
    { code: 'xs.forEach(function (x) { this.use(x); }, self);' },
  ],
});
