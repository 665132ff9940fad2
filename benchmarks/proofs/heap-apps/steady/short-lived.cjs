// Entries live for half a second, and a timer removes them.
const http = require('node:http');

const entries = new Map();
setInterval(() => {
  const now = Date.now();
  for (const [key, { until }] of entries) if (until < now) entries.delete(key);
}, 100).unref();

http
  .createServer((request, response) => {
    const key = `${request.url}?${Math.random()}`;
    entries.set(key, { key, until: Date.now() + 500, text: key.repeat(4) });
    response.end(key);
  })
  .listen(process.env.PORT, '127.0.0.1');
