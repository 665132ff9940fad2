// The latest five hundred requests, in a ring.
const http = require('node:http');

const latest = Array.from({ length: 500 });
let next = 0;

http
  .createServer((request, response) => {
    latest[next] = { url: request.url, headers: { ...request.headers }, at: new Date() };
    next = (next + 1) % latest.length;
    response.end(String(next));
  })
  .listen(process.env.PORT, '127.0.0.1');
