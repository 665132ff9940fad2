'use strict';

exports.since = 17;

// before
exports.before = function clone(order) {
  return JSON.parse(JSON.stringify(order));
};

// after
exports.after = function clone(order) {
  return structuredClone(order);
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 32 }, (_, n) => ({
    id: n,
    customer: { name: 'n' + n, city: 'here' },
    items: [1, 2, 3].map((id) => ({ id, price: id * 2, title: 'item ' + id })),
  }));
};
