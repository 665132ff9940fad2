// A check that never runs keeps the body of its request.
const http = require('node:http');

const checks = [];

function checkLater(body) {
  checks.push(() => body.length > 0); // leaks here
}

http
  .createServer((request, response) => {
    checkLater(`${request.url} `.repeat(40));
    response.end('ok');
  })
  .listen(process.env.PORT, '127.0.0.1');
