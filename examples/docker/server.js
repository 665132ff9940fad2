// An API whose responses are cached: in the Redis that REDIS_URL names, so that all replicas share them, or in the process.
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { engine, serverFactory } from '@redline/http';
import { JsonCache, memoryStore, redisStore } from '@redline/response-cache';
import fastify from 'fastify';
import { Redis } from 'ioredis';

const { HOST = '127.0.0.1', PORT = '3000', REDIS_URL } = process.env;

const client = REDIS_URL ? new Redis(REDIS_URL, { enableAutoPipelining: true }) : undefined;
// It connects again by itself, and the cache reports when it is down.
client?.on('error', () => {});
const store = client ? redisStore(client, { keyPrefix: 'articles:' }) : memoryStore();
const cache = new JsonCache({ store, ttl: 30_000 });

const app = fastify({ serverFactory, logger: true });

app.get('/articles/:id', async (request, reply) => {
  const { id } = request.params;
  const json = await cache.answer(id, () => findArticle(id));
  return reply.type('application/json; charset=utf-8').send(json);
});

app.get('/health', () => ({ replica: hostname(), engine: engine().name }));

// Docker sends SIGTERM: what has been accepted is answered first.
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, async () => {
    await app.close();
    client?.disconnect();
  });
}
await app.listen({ host: HOST, port: Number(PORT) });

/** Stands for the database, 20 ms away. */
async function findArticle(id) {
  await sleep(20);
  return { id, title: `Article ${id}`, madeBy: hostname() };
}
