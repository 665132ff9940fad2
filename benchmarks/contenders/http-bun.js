// Bun.serve. Runs on Bun alone.
import { json, product, sum, webStream, work } from './http-work.js';

const headers = { 'Content-Type': json };

Bun.serve({
  port: Number(process.env.PORT),
  hostname: process.env.HOST,
  async fetch(request) {
    const path = request.url.slice(request.url.indexOf('/', 8));
    if (path === '/') return new Response(product, { headers });
    if (path === '/busy') {
      work();
      return new Response(product, { headers });
    }
    if (path === '/order') return new Response(sum(await request.json()), { headers });
    if (path === '/stream') {
      return new Response(webStream(), { headers: { 'Content-Type': 'application/octet-stream' } });
    }
    return new Response(undefined, { status: 404 });
  },
});
