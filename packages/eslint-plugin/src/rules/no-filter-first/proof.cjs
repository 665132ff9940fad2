'use strict';

// before
exports.before = function first(users) {
  return users.filter((user) => user.age >= 18)[0];
};

// after
exports.after = function first(users) {
  return users.find((user) => user.age >= 18);
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 32 }, (_, n) =>
    // The first adult is roughly in the middle.
    Array.from({ length: 40 }, (__, id) => ({ age: id - (n % 5), name: 'u' + id })),
  );
};
