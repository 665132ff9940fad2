'use strict';

// before
const sessions = {};
exports.before = function visit(ids) {
  let open = 0;
  for (let i = 0; i < ids.length; i++) sessions[ids[i]] = i;
  for (let i = 0; i < ids.length; i++) {
    if (sessions[ids[i]] !== undefined) open++;
  }
  for (let i = 0; i < ids.length; i++) delete sessions[ids[i]];
  return open;
};

// after
const openSessions = new Map();
exports.after = function visit(ids) {
  let open = 0;
  for (let i = 0; i < ids.length; i++) openSessions.set(ids[i], i);
  for (let i = 0; i < ids.length; i++) {
    if (openSessions.get(ids[i]) !== undefined) open++;
  }
  for (let i = 0; i < ids.length; i++) openSessions.delete(ids[i]);
  return open;
};

// inputs
exports.inputs = function () {
  // Built at run time, as what arrives in a request is.
  return Array.from({ length: 16 }, (_, n) =>
    Array.from({ length: 50 }, (__, id) => Buffer.from('s' + ((id * 7919 + n) % 997)).toString()),
  );
};
