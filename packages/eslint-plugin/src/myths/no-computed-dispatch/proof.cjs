'use strict';

const actions = {
  add: (n) => n + 1,
  sub: (n) => n - 1,
  dbl: (n) => n * 2,
  neg: (n) => -n,
  sqr: (n) => n * n,
  inc: (n) => n + 10,
};

// before
exports.before = function run(job) {
  return actions[job.name](job.value);
};

// after
exports.after = new Function(
  'actions',
  'return function run(job) { switch (job.name) {' +
    Object.keys(actions)
      .map((name) => 'case "' + name + '": return actions.' + name + '(job.value);')
      .join('') +
    '} };',
)(actions);

// inputs
exports.inputs = function () {
  const names = Object.keys(actions);
  return Array.from({ length: 128 }, (_, n) => ({
    name: Buffer.from(names[(n * 7) % names.length]).toString(),
    value: n,
  }));
};
