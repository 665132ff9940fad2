'use strict';

exports.changesResult = '"12px" becomes NaN, "" becomes 0, and fractions stay';

// before
exports.before = function page(text) {
  return parseInt(text, 10);
};

// after
exports.after = function page(text) {
  return +text;
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 512 }, (_, n) => Buffer.from(String(n * 37)).toString());
};
