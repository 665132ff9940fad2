'use strict';

// before
exports.before = function isApi(url) {
  return /^\/api\//.test(url);
};

// after
exports.after = function isApi(url) {
  return url.startsWith('/api/');
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 256 }, (_, n) =>
    Buffer.from((n % 2 ? '/api/' : '/static/') + 'items/' + n).toString(),
  );
};
