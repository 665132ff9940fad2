'use strict';
// An app of Express whose middleware allocates a megabyte for each request: in the heap, or outside of it for ALLOCATES=buffer.
const express = require('express');

const bytes = 1_000_000;
let kept;

const app = express();
app.use(function allocate(request, response, next) {
  kept =
    process.env.ALLOCATES === 'buffer'
      ? Buffer.alloc(bytes)
      : // Not filled: to fill it may allocate the same again, which depends on how warm the code is.
        // oxlint-disable-next-line unicorn/no-new-array -- Array.from fills it
        new Array(bytes / 8);
  next();
});
app.use(function spin(request, response, next) {
  const until = performance.now() + 0.4;
  while (performance.now() < until);
  next();
});
app.get('/feed', function list(request, response) {
  response.json({ length: kept.length });
});
app.listen(process.env.PORT, '127.0.0.1');
