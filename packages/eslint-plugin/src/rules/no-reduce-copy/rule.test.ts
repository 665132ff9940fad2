import { testRule } from '../../../test/test-rule.ts';

testRule('no-reduce-copy', {
  valid: [
    'rows.reduce((all, row) => { all[row.id] = row; return all; }, {});',
    'rows.reduce((all, row) => ({ ...row }), {});',
    'rows.reduce((all, row) => Object.assign(all, row), {});',
  ],
  invalid: [
    {
      code: 'rows.reduce((all, row) => Object.assign({}, all, { [row.id]: row }), {});',
      suggested: 'rows.reduce((all, row) => { all[row.id] = row; return all; }, {});',
    },
    {
      code: 'rows.reduce((all, row) => ({ ...all, [row.id]: row }), {});',
      suggested: 'rows.reduce((all, row) => { all[row.id] = row; return all; }, {});',
    },
    {
      code: 'rows.reduce((all, row) => ({ ...all, last: row, "a b": 1 }), {});',
      suggested: 'rows.reduce((all, row) => { all.last = row; all["a b"] = 1; return all; }, {});',
    },
    {
      code: 'const seen = text.trim(); const found = [1].reduce((all, row) => ({ ...all, last: row }), {});',
      fixed:
        'const seen = text.trim(); const found = [1].reduce((all, row) => { all.last = row; return all; }, {});',
    },
    {
      code: 'const found = [1].reduce((all, row) => ({ ...all, [row]: row }), {});',
      suggested: 'const found = [1].reduce((all, row) => { all[row] = row; return all; }, {});',
    },
    {
      code: 'const found = [1].reduce((all, row) => ({ ...all, __proto__: row }), {});',
      suggested:
        'const found = [1].reduce((all, row) => { all.__proto__ = row; return all; }, {});',
    },
    {
      code: 'const found = [1].reduce((all, row) => ({ ...all, read: () => row }), {});',
      suggested:
        'const found = [1].reduce((all, row) => { all.read = () => row; return all; }, {});',
    },
    { code: 'const found = [1].reduce((all, row) => ({ ...all, read() {} }), {});' },
    { code: 'rows.reduce((all, row) => ({ ...all, ...row }), {});' },
    { code: 'rows.reduce((all, row) => ({ ...all, [row.id]: row }), shared);' },
    { code: 'rows.reduce((all, row) => ({ ...all, [row.id]: all.count }), {});' },
    { code: 'rows.reduce((all, row) => [...all, row.id], []);' },
  ],
});
