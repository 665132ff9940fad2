'use strict';

exports.changesResult = 'halves such as 1.005 may round the other way';

// before
exports.before = function cents(price) {
  return Number(price.toFixed(2));
};

// after
exports.after = function cents(price) {
  return Math.round(price * 100) / 100;
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 256 }, (_, n) => n * 1.2345 + 0.1);
};
