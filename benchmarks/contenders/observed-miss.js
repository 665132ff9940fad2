// A cached route of which each request is a miss: `observed-miss.js READS`, with the Redis in REDIS_URL. The handler does what one
// that is worth a cache does: it fetches its data, and reads a header.
import { JsonCache, redisStore } from '@redline/response-cache';
import { fastifyCache } from '@redline/response-cache/fastify';
import { fastify } from 'fastify';
import { Redis } from 'ioredis';

const [reads] = process.argv.slice(2);
const client = new Redis(process.env.REDIS_URL, { enableAutoPipelining: true });
await client.set('product', process.env.PRODUCT);
const cache = new JsonCache({ store: redisStore(client, { keyPrefix: `${reads}:` }), ttl: 1_000 });
let count = 0;
// Each key is asked for once.
const policy = { key: () => `${process.pid}:${(count += 1)}`, vary: ['accept-language'] };

const app = fastify();
await app.register(fastifyCache, { cache, reads });
app.get('/', { config: { cache: policy } }, async ({ headers }) => {
  const product = JSON.parse(await client.get('product'));
  return headers['accept-language'] === 'none' ? null : product;
});
await app.listen({ port: Number(process.env.PORT), host: process.env.HOST ?? '127.0.0.1' });
