'use strict';

// before
function add(by, value) {
  return this.base + by + value;
}
exports.before = function shift(job) {
  const by = add.bind(job, job.by);
  return by(1) + by(2);
};

// after
exports.after = function shift(job) {
  const by = (value) => add.call(job, job.by, value);
  return by(1) + by(2);
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 128 }, (_, n) => ({ base: n, by: n % 7 }));
};
