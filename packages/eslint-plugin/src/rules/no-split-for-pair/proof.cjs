'use strict';

// before
exports.before = function pair(text) {
  const parts = text.split('=');
  return { name: parts[0], value: parts[1] };
};

// after
exports.after = function pair(text) {
  const at = text.indexOf('=');
  return { name: text.slice(0, at), value: text.slice(at + 1) };
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 256 }, (_, n) =>
    Buffer.from('name' + n + '=value' + n * 7).toString(),
  );
};
