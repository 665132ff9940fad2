'use strict';

// before
exports.before = function even(numbers) {
  let found = [];
  for (let i = 0; i < numbers.length; i++) {
    if (numbers[i] % 2 === 0) found = found.concat(numbers[i]);
  }
  return found;
};

// after
exports.after = function even(numbers) {
  const found = [];
  for (let i = 0; i < numbers.length; i++) {
    if (numbers[i] % 2 === 0) found.push(numbers[i]);
  }
  return found;
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 32 }, (_, n) => Array.from({ length: 40 }, (__, id) => id * 3 + n));
};
