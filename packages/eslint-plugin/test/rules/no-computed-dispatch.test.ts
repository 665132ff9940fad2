import { testRule } from '../test-rule.ts';

testRule('no-computed-dispatch', {
  valid: [
    'const actions = {}; function f() { actions.go(); }',
    'function f(xs, i) { xs[i](); }',
    'const actions = {}; actions[name]();',
    "const actions = {}; function f() { actions['go'](); }",
  ],
  invalid: [
    { code: 'const actions = { add, sub }; function f(name) { return actions[name](1); }' },
  ],
});
