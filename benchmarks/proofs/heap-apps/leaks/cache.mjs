// A cache keyed by the whole URL: every id adds an entry, and none is removed.
import { createServer } from 'node:http';
import { Cache } from './lib/cache.mjs';

const cache = new Cache();

function render(url) {
  return { url, html: `<p>${url}</p>`.repeat(5) };
}

createServer((request, response) => {
  const page = cache.getOrMake(`${request.url}?${Math.random()}`, () => render(request.url));
  response.end(page.html);
}).listen(process.env.PORT, '127.0.0.1');
