'use strict';

// before
exports.before = function query(params) {
  let text = '';
  for (const [name, value] of Object.entries(params)) text += name + '=' + value + '&';
  return text;
};

// after
exports.after = function query(params) {
  let text = '';
  for (const name of Object.keys(params)) text += name + '=' + params[name] + '&';
  return text;
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 64 }, (_, n) => ({
    page: n,
    size: 20,
    sort: 'name',
    order: n % 2 ? 'up' : 'down',
    q: 'word' + n,
    lang: 'en',
  }));
};
