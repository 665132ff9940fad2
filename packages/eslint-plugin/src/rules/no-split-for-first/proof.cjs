'use strict';

// before
exports.before = function pathOf(url) {
  return url.split('?')[0];
};

// after
exports.after = function pathOf(url) {
  return url.indexOf('?') === -1 ? url : url.slice(0, url.indexOf('?'));
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 256 }, (_, n) =>
    Buffer.from('/catalog/items/' + n + (n % 4 === 0 ? '' : '?page=' + n + '&size=20')).toString(),
  );
};
