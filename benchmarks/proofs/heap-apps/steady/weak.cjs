// Facts about a request are collected with it.
const http = require('node:http');

const known = new WeakMap();
let finished = 0;
const registry = new FinalizationRegistry(() => finished++);

http
  .createServer((request, response) => {
    known.set(request, { url: request.url, at: new Date(), words: request.url.split('/') });
    registry.register(request, request.url);
    response.end(String(finished));
  })
  .listen(process.env.PORT, '127.0.0.1');
