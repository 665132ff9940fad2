'use strict';

// before
exports.before = function total(counts) {
  let sum = 0;
  for (const name in counts) sum += counts[name];
  return sum;
};

// after
exports.after = function total(counts) {
  let sum = 0;
  Object.keys(counts).forEach((name) => {
    sum += counts[name];
  });
  return sum;
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 64 }, (_, n) => ({
    requests: n,
    errors: n % 3,
    bytes: n * 100,
    retries: n % 5,
    timeouts: 1,
    hits: n * 2,
  }));
};
