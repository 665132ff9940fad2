'use strict';

// before
exports.before = function isItem(url) {
  return /^\/items\/\d+$/.test(url);
};

// after
const item = /^\/items\/\d+$/;
exports.after = function isItem(url) {
  return item.test(url);
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 256 }, (_, n) =>
    Buffer.from((n % 4 ? '/items/' : '/users/') + n).toString(),
  );
};
