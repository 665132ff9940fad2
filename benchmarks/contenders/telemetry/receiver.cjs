// Takes what tracers send (OTLP, the Datadog agent's traces, Sentry's envelopes) and answers at once. GET /received responds with
// the number of bytes per path.
const { createServer } = require('node:http');

const received = {};
const server = createServer((request, response) => {
  const path = request.url.split('?', 1)[0];
  response.setHeader('Content-Type', 'application/json');
  if (path === '/received') return response.end(JSON.stringify(received));
  request.on('data', (bytes) => {
    received[path] = (received[path] ?? 0) + bytes.length;
  });
  request.on('end', () => response.end('{"rate_by_service":{}}'));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
