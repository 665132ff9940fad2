import { testRule } from '../../../test/test-rule.ts';

testRule('prefer-map-for-churned-keys', {
  valid: [
    'const m = new Map(); m.delete(key);',
    'const o = {}; delete o.name;',
    "const o = {}; delete o['name'];",
    'function f(o, key) { delete o[key]; }',
  ],
  invalid: [
    {
      code: 'const open = {}; function add(id) { open[id] = 1; } function end(id) { delete open[id]; } function has(id) { return id in open || open[id] > 0; }',
      suggested:
        'const open = new Map(); function add(id) { open.set(id, 1); } function end(id) { open.delete(id); } function has(id) { return open.has(id) || open.get(id) > 0; }',
    },
    {
      code: 'const open = {}; function end(id) { delete open[id]; } function all() { return Object.keys(open); }',
    },
    {
      code: 'const open = {}; function more(id) { open[id]++; } function end(id) { delete open[id]; }',
    },
    {
      code: `function Pool() { this.open = {}; }
Pool.prototype.end = function (id) { delete this.open[id]; };`,
    },
  ],
});
