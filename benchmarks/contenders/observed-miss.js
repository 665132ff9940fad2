// A cached route that misses each time: `observed-miss.js FRAMEWORK READS`. The handler does what one that misses does: it waits
// for its data, here for a turn of the event loop, and reads a header.
import { setImmediate as turn } from 'node:timers/promises';
import { cached } from '@redline/response-cache/express';
import { JsonCache } from '@redline/response-cache';
import { fastifyCache } from '@redline/response-cache/fastify';
import express from 'express';
import { fastify } from 'fastify';

const [framework, reads] = process.argv.slice(2);
const product = JSON.parse(process.env.PRODUCT);
const cache = new JsonCache();
let count = 0;
// Each key is asked for once.
const policy = { key: () => String((count += 1)), vary: ['accept-language'] };
const find = async ({ headers }) => {
  await turn();
  return headers['accept-language'] === 'none' ? null : product;
};
const port = Number(process.env.PORT);
const host = process.env.HOST ?? '127.0.0.1';

if (framework === 'fastify') {
  const app = fastify();
  await app.register(fastifyCache, { cache, reads });
  app.get('/', { config: { cache: policy } }, find);
  await app.listen({ port, host });
} else {
  const app = express();
  app.get('/', cached(cache, policy, { reads }), (request, response, next) => {
    find(request).then((found) => response.json(found), next);
  });
  app.listen(port, host);
}
