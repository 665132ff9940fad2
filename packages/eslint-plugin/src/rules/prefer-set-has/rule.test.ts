import { testRule } from '../../../test/test-rule.ts';

testRule('prefer-set-has', {
  valid: [
    "const a = ['x', 'y']; if (a.indexOf(t) !== -1) go();",
    "let a = ['t0', 't1', 't2', 't3', 't4', 't5', 't6', 't7', 't8', 't9', 't10', 't11', 't12', 't13', 't14', 't15']; a = []; a.includes(t);",
    'list.includes(x);',
    "const at = ['t0', 't1', 't2', 't3', 't4', 't5', 't6', 't7', 't8', 't9', 't10', 't11', 't12', 't13', 't14', 't15'].indexOf(t);",
  ],
  invalid: [
    {
      code: "const a = ['t0', 't1', 't2', 't3', 't4', 't5', 't6', 't7', 't8', 't9', 't10', 't11', 't12', 't13', 't14', 't15']; const has = (t) => a.indexOf(t) !== -1;",
      suggested:
        "const a = new Set(['t0', 't1', 't2', 't3', 't4', 't5', 't6', 't7', 't8', 't9', 't10', 't11', 't12', 't13', 't14', 't15']); const has = (t) => a.has(t);",
    },
    {
      code: "const a = ['t0', 't1', 't2', 't3', 't4', 't5', 't6', 't7', 't8', 't9', 't10', 't11', 't12', 't13', 't14', 't15']; const lacks = (t) => a.indexOf(t) < 0;",
      suggested:
        "const a = new Set(['t0', 't1', 't2', 't3', 't4', 't5', 't6', 't7', 't8', 't9', 't10', 't11', 't12', 't13', 't14', 't15']); const lacks = (t) => !a.has(t);",
    },
    {
      code: "const a = ['t0', 't1', 't2', 't3', 't4', 't5', 't6', 't7', 't8', 't9', 't10', 't11', 't12', 't13', 't14', 't15']; const has = (t) => a.includes(t);",
      suggested:
        "const a = new Set(['t0', 't1', 't2', 't3', 't4', 't5', 't6', 't7', 't8', 't9', 't10', 't11', 't12', 't13', 't14', 't15']); const has = (t) => a.has(t);",
    },
    {
      code: "const a = ['t0', 't1', 't2', 't3', 't4', 't5', 't6', 't7', 't8', 't9', 't10', 't11', 't12', 't13', 't14', 't15']; const has = (t) => a.includes(t); use(a);",
    },
  ],
});
