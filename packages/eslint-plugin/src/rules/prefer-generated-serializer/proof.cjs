'use strict';

// before
exports.before = function serialize(user) {
  return JSON.stringify({ id: user.id, name: user.name, active: user.active, score: user.score });
};

// after
const unsafe = /["\\\u0000-\u001f\ud800-\udfff]/;
function quoted(text) {
  return unsafe.test(text) ? JSON.stringify(text) : '"' + text + '"';
}
exports.after = function serialize(user) {
  return (
    '{"id":' +
    user.id +
    ',"name":' +
    quoted(user.name) +
    ',"active":' +
    user.active +
    ',"score":' +
    user.score +
    '}'
  );
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 64 }, (_, n) => ({
    id: n,
    name: Buffer.from('Name of user ' + n).toString(),
    active: n % 2 === 0,
    score: n * 1.5,
  }));
};
