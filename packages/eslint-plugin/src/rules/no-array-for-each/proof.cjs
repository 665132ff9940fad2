'use strict';

// before
exports.before = function total(items) {
  let sum = 0;
  items.forEach((item) => {
    sum += item.price * item.count;
  });
  return sum;
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
