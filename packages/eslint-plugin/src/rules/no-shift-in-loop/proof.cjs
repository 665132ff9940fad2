'use strict';

// before
exports.before = function drain(jobs) {
  const queue = jobs.slice();
  let sum = 0;
  while (queue.length > 0) {
    const job = queue.shift();
    sum += job.cost;
  }
  return sum;
};

// after
exports.after = function drain(jobs) {
  const queue = jobs.slice();
  let sum = 0;
  for (let next = 0; next < queue.length; next++) {
    const job = queue[next];
    sum += job.cost;
  }
  return sum;
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 8 }, (_, n) =>
    Array.from({ length: 200 }, (__, id) => ({ cost: id + n })),
  );
};
