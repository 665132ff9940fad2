'use strict';

// before
exports.before = function total(items) {
  let sum = 0;
  for (let i = 0; i < items.length; i++) sum += items[i].price;
  return sum;
};

// after
exports.after = function total(items) {
  let sum = 0;
  for (let i = 0, length = items.length; i < length; i++) sum += items[i].price;
  return sum;
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 32 }, (_, n) =>
    Array.from({ length: 40 }, (__, id) => ({ price: id + n })),
  );
};
