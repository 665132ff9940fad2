'use strict';

// before
exports.before = function keyOf(row) {
  return [row.kind, ':', row.id].join('');
};

// after
exports.after = function keyOf(row) {
  return `${row.kind}:${row.id}`;
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 128 }, (_, n) => ({ kind: n % 2 ? 'user' : 'order', id: 'id' + n }));
};
