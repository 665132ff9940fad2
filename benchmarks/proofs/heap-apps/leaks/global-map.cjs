// A session for each visitor, which never ends.
const http = require('node:http');

globalThis.sessions = new Map();
let visitors = 0;

function sessionOf(request) {
  const id = `visitor-${++visitors}`;
  const session = { id, agent: request.headers['user-agent'], pages: [request.url] };
  globalThis.sessions.set(id, session); // leaks here
  return session;
}

http
  .createServer((request, response) => {
    response.end(sessionOf(request).id);
  })
  .listen(process.env.PORT, '127.0.0.1');
