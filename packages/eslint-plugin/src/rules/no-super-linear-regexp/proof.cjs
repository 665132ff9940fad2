'use strict';

// before
exports.before = function isName(text) {
  return /^(\w+\s?)*$/.test(text);
};

// after
exports.after = function isName(text) {
  return /^(?:\w+(?:\s\w+)*\s?)?$/.test(text);
};

// inputs
exports.inputs = function () {
  // One text in 64 is an attack of 15 characters: each more doubles the time of the first form.
  return Array.from({ length: 256 }, (_, n) =>
    n % 64 === 0 ? 'a'.repeat(14) + '!' : 'Ada Lovelace of ' + n,
  );
};
