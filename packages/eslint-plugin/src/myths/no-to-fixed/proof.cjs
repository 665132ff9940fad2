'use strict';

exports.changesResult = '"4.80" becomes "4.8"';

// before
exports.before = function label(price) {
  return price.toFixed(2) + ' EUR';
};

// after
exports.after = function label(price) {
  return Math.round(price * 100) / 100 + ' EUR';
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 1024 }, (_, n) => n * 1.2345 + 0.1);
};
