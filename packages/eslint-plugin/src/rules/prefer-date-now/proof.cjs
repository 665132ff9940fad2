'use strict';

exports.notCompared = 'both read the clock';

// before
exports.before = function age(from) {
  return new Date().getTime() - from;
};

// after
exports.after = function age(from) {
  return Date.now() - from;
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 128 }, (_, n) => n);
};
