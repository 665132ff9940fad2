'use strict';

// before
exports.before = function find(routes) {
  for (var i in routes) {
    if (routes[i].id === routes[i].wanted) return routes[i];
  }
  return null;
};

// after
exports.after = function find(routes) {
  for (let i = 0; i < routes.length; i++) {
    if (routes[i].id === routes[i].wanted) return routes[i];
  }
  return null;
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 32 }, (_, n) =>
    Array.from({ length: 40 }, (__, id) => ({ id, wanted: 20 + (n % 20), name: 'r' + id })),
  );
};
