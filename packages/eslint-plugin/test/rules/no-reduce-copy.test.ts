import { testRule } from '../test-rule.ts';

testRule('no-reduce-copy', {
  valid: [
    'rows.reduce((all, row) => { all[row.id] = row; return all; }, {});',
    'rows.reduce((all, row) => ({ ...row }), {});',
    'rows.reduce((all, row) => Object.assign(all, row), {});',
  ],
  invalid: [
    {
      code: 'rows.reduce((all, row) => Object.assign({}, all, { [row.id]: row }), {});',
      fixed: 'rows.reduce((all, row) => { all[row.id] = row; return all; }, {});',
    },
    {
      code: 'rows.reduce((all, row) => ({ ...all, [row.id]: row }), {});',
      fixed: 'rows.reduce((all, row) => { all[row.id] = row; return all; }, {});',
    },
    {
      code: 'rows.reduce((all, row) => ({ ...all, last: row, "a b": 1 }), {});',
      fixed: 'rows.reduce((all, row) => { all.last = row; all["a b"] = 1; return all; }, {});',
    },
    { code: 'rows.reduce((all, row) => ({ ...all, ...row }), {});' },
    { code: 'rows.reduce((all, row) => ({ ...all, [row.id]: row }), shared);' },
    { code: 'rows.reduce((all, row) => ({ ...all, [row.id]: all.count }), {});' },
    { code: 'rows.reduce((all, row) => [...all, row.id], []);' },
  ],
});
