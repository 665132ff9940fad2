'use strict';

// before
function gather() {
  var parts = Array.prototype.slice.call(arguments);
  return parts;
}
exports.before = function log(row) {
  return gather(row.level, row.text, row.id);
};

// after
function collect(...parts) {
  return parts;
}
exports.after = function log(row) {
  return collect(row.level, row.text, row.id);
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 128 }, (_, n) => ({ level: n % 5, text: 't' + n, id: n }));
};
