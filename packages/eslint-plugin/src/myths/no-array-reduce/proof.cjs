'use strict';

// before
exports.before = function total(items) {
  return items.reduce((sum, item) => sum + item.price * item.count, 0);
};

// after
exports.after = function total(items) {
  let sum = 0;
  for (let i = 0; i < items.length; i++) {
    sum += items[i].price * items[i].count;
  }
  return sum;
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 32 }, (_, n) =>
    Array.from({ length: 40 }, (__, id) => ({ price: id + n, count: (id % 3) + 1 })),
  );
};
