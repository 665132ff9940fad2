'use strict';

exports.changesResult = 'a number becomes the string that reads the same';

// before
function pad(val) {
  return val >= 10 ? val : '0' + val;
}
exports.before = function clock(time) {
  return pad(time.hours) + ':' + pad(time.minutes) + ':' + pad(time.seconds);
};

// after
function padded(val) {
  return (val >= 10 ? '' : '0') + val;
}
exports.after = function clock(time) {
  return padded(time.hours) + ':' + padded(time.minutes) + ':' + padded(time.seconds);
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 128 }, (_, n) => ({
    hours: n % 24,
    minutes: (n * 7) % 60,
    seconds: (n * 13) % 60,
  }));
};
