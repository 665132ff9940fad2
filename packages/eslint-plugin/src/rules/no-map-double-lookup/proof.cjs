'use strict';

const entries = () => Array.from({ length: 100 }, (_, n) => ['/route/' + n, { id: n }]);

// before
const handlers = new Map(entries());
exports.before = function find(path) {
  if (handlers.has(path)) return handlers.get(path);
  return null;
};

// after
const handlersByPath = new Map(entries());
exports.after = function find(path) {
  const handler = handlersByPath.get(path);
  if (handler !== undefined) return handler;
  return null;
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 128 }, (_, n) => Buffer.from('/route/' + n).toString());
};
