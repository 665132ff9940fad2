'use strict';

// before
exports.before = function total(items) {
  try {
    let sum = 0;
    for (let i = 0; i < items.length; i++) sum += items[i].price;
    return sum;
  } catch (error) {
    return -1;
  }
};

// after
exports.after = function total(items) {
  let sum = 0;
  for (let i = 0; i < items.length; i++) sum += items[i].price;
  return sum;
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 64 }, (_, n) =>
    Array.from({ length: 10 }, (__, id) => ({ price: id + n })),
  );
};
