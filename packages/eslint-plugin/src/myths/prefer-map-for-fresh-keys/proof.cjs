'use strict';

// before
exports.before = function count(events) {
  const seen = {};
  for (let i = 0; i < events.length; i++) {
    const key = events[i].route + ':' + events[i].status;
    seen[key] = (seen[key] || 0) + 1;
  }
  return seen[events[0].route + ':' + events[0].status];
};

// after
exports.after = function count(events) {
  const seen = new Map();
  for (let i = 0; i < events.length; i++) {
    const key = events[i].route + ':' + events[i].status;
    seen.set(key, (seen.get(key) || 0) + 1);
  }
  return seen.get(events[0].route + ':' + events[0].status);
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 16 }, (_, n) =>
    Array.from({ length: 60 }, (__, id) => ({
      route: '/r' + ((id + n) % 12),
      status: 200 + (id % 3),
    })),
  );
};
