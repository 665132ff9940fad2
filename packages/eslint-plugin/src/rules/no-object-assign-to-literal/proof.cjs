'use strict';

// before
exports.before = function copy(options) {
  return Object.assign({}, options);
};

// after
exports.after = function copy(options) {
  return { ...options };
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 64 }, (_, n) => ({ id: n, name: 'n' + n, age: 20, city: 'here' }));
};
