'use strict';

// before
exports.before = function cheapest(prices) {
  return prices.slice().sort((a, b) => a - b)[0];
};

// after
exports.after = function cheapest(prices) {
  let least = prices[0];
  for (let i = 1; i < prices.length; i++) {
    if (prices[i] < least) least = prices[i];
  }
  return least;
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 32 }, (_, n) =>
    Array.from({ length: 40 }, (__, id) => ((id * 7919 + n * 104729) % 1000) / 10),
  );
};
