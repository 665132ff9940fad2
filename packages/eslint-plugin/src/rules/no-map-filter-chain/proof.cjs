'use strict';

// before
exports.before = function names(users) {
  return users.filter((user) => user.age >= 18).map((user) => user.name);
};

// after
exports.after = function names(users) {
  const found = [];
  for (let i = 0; i < users.length; i++) {
    const user = users[i];
    if (user.age >= 18) found.push(user.name);
  }
  return found;
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 32 }, (_, n) =>
    Array.from({ length: 40 }, (__, id) => ({ age: (id * 7 + n) % 60, name: 'u' + id })),
  );
};
