'use strict';

exports.changesResult = 'the key stays, with the value undefined';

// before
exports.before = function strip(row) {
  const user = { id: row.id, name: row.name, password: row.password, age: row.age };
  delete user.password;
  return user.id + user.name + user.age;
};

// after
exports.after = function strip(row) {
  const user = { id: row.id, name: row.name, password: row.password, age: row.age };
  user.password = undefined;
  return user.id + user.name + user.age;
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 64 }, (_, n) => ({ id: n, name: 'n' + n, password: 'x', age: 20 }));
};
