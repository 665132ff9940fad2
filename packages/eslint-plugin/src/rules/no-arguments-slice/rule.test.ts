import { testRule } from '../../../test/test-rule.ts';

testRule('no-arguments-slice', {
  valid: [
    'function f(...all) { return all; }',
    'args.slice(1);',
    'Array.prototype.slice.call(list);',
  ],
  invalid: [
    {
      code: 'function f() { var all = Array.prototype.slice.call(arguments); return all; }',
      fixed: 'function f(...all) { return all; }',
    },
    {
      code: `function f(level) {
  var rest = [].slice.call(arguments, 1);
  log(level, rest);
}`,
      fixed: `function f(level, ...rest) {
  log(level, rest);
}`,
    },
    { code: 'function f(a) { var all = Array.prototype.slice.call(arguments); return all; }' },
    { code: "function f() { 'use strict'; var all = Array.from(arguments); return all; }" },
    {
      code: 'function f() { var all = Array.from(arguments); return all.length === arguments.length; }',
    },
    { code: 'function f() { return Array.from(arguments); }' },
    { code: '({ set x(value) { var rest = Array.prototype.slice.call(arguments, 1); } });' },
    { code: 'function f(a) { var a = Array.prototype.slice.call(arguments, 1); return a; }' },
  ],
});
