'use strict';

// before
exports.before = function byId(rows) {
  return rows.reduce((all, row) => Object.assign({}, all, { [row.id]: row.name }), {});
};

// after
exports.after = function byId(rows) {
  return rows.reduce((all, row) => {
    all[row.id] = row.name;
    return all;
  }, {});
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 16 }, (_, n) =>
    Array.from({ length: 20 }, (__, id) => ({ id: 'key' + id, name: 'n' + n })),
  );
};
