'use strict';

// before
exports.before = function isItem(url) {
  return new RegExp('^/items/\\d+$').test(url);
};

// after
exports.after = function isItem(url) {
  return /^\/items\/\d+$/.test(url);
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 256 }, (_, n) =>
    Buffer.from((n % 4 ? '/items/' : '/users/') + n).toString(),
  );
};
