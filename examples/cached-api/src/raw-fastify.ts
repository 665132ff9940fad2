// Beside the ladder: rung 06 without Nest. What is left between the two is what Nest itself costs.
import { serverFactory } from '@redline/http';
import { JsonCache } from '@redline/response-cache';
import { fastify } from 'fastify';
import { pino } from 'pino';
import { Catalog } from './catalog.ts';
import { jsonStore } from './json-store.ts';
import { connectRedis } from './redis.ts';

const catalog = new Catalog();
const logger = pino(pino.destination({ sync: false }));
const cache = new JsonCache({ store: jsonStore(connectRedis({ enableAutoPipelining: true })) });
const app = fastify({ serverFactory });

app.addHook('onResponse', async (request, reply) => {
  const { statusCode, elapsedTime } = reply;
  if (statusCode >= 400) logger.warn({ url: request.url, statusCode, responseTime: elapsedTime });
});

app.get('/cached', (request, reply) => {
  reply.type('application/json; charset=utf-8');
  return cache.answer(request.url, () => catalog.findProduct(), { ttl: 600_000 });
});

app.get('/uncached', () => catalog.findProduct());

await app.listen({
  port: Number(process.env.PORT ?? 3000),
  host: process.env.HOST ?? '127.0.0.1',
});
