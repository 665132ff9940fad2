'use strict';

// before
exports.before = function isItem(url) {
  return url.match(/^\/items\/\d+$/) ? 1 : 0;
};

// after
exports.after = function isItem(url) {
  return /^\/items\/\d+$/.test(url) ? 1 : 0;
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 256 }, (_, n) =>
    Buffer.from((n % 4 ? '/items/' : '/users/') + n).toString(),
  );
};
