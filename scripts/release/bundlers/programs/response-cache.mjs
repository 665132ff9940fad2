import { JsonCache, memoryStore } from '@redline/response-cache';
import { cached } from '@redline/response-cache/express';
import { fastifyCache } from '@redline/response-cache/fastify';
import express from 'express';
import fastify from 'fastify';

let made = 0;

async function main() {
  const cache = new JsonCache({ store: memoryStore(), ttl: 60_000 });
  const app = fastify();
  await app.register(fastifyCache, { cache });
  app.get('/fastify', { config: { cache: { at: 'hook' } } }, async () => ({ made: (made += 1) }));
  const listening = express();
  listening.get('/express', cached(cache, { at: 'hook' }), (request, response) => {
    response.json({ made: (made += 1) });
  });
  const server = listening.listen(0, '127.0.0.1', async () => {
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const texts = [];
    for (const path of ['/fastify', '/fastify', '/express', '/express']) {
      const from = path === '/fastify' ? url : `http://127.0.0.1:${server.address().port}`;
      texts.push(await (await fetch(from + path)).text());
    }
    console.log(JSON.stringify({ result: texts.join() }));
    process.exit();
  });
}

main();
