// A linked list: each request points to the one before.
const http = require('node:http');

let latest = null;

function note(url) {
  latest = { url, at: Date.now() + 0.5, previous: latest }; // leaks here
}

http
  .createServer((request, response) => {
    note(`${request.url}?${Math.random()}`);
    response.end('ok');
  })
  .listen(process.env.PORT, '127.0.0.1');
