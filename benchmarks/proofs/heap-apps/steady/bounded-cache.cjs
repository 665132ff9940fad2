// A new entry replaces the oldest of a thousand.
const http = require('node:http');

const entries = new Map();

function remember(key, value) {
  entries.set(key, value);
  if (entries.size > 1_000) entries.delete(entries.keys().next().value);
}

http
  .createServer((request, response) => {
    const key = `${request.url}?${Math.random()}`;
    remember(key, { key, html: `<p>${key}</p>`.repeat(5) });
    response.end(key);
  })
  .listen(process.env.PORT, '127.0.0.1');
