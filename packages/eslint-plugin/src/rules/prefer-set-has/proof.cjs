'use strict';

const list = () => Array.from({ length: 100 }, (_, n) => 'application/type-' + n);

// before
const known = list();
exports.before = function isKnown(type) {
  return known.indexOf(type) !== -1;
};

// after
const knownTypes = new Set(list());
exports.after = function isKnown(type) {
  return knownTypes.has(type);
};

// inputs
exports.inputs = function () {
  // Built at run time, like data in a request: equal text in a different string.
  return Array.from({ length: 128 }, (_, n) => Buffer.from('application/type-' + n).toString());
};
