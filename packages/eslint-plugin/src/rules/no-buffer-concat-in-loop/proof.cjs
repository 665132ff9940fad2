'use strict';

// before
exports.before = function gather(chunks) {
  let body = Buffer.alloc(0);
  for (const chunk of chunks) body = Buffer.concat([body, chunk]);
  return body.length;
};

// after
exports.after = function gather(chunks) {
  const received = [];
  for (const chunk of chunks) received.push(chunk);
  return Buffer.concat(received).length;
};

// inputs
exports.inputs = function () {
  return Array.from({ length: 8 }, (_, n) =>
    Array.from({ length: 16 }, () => Buffer.alloc(1024, n)),
  );
};
