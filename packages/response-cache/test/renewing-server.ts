// One of the processes that share a Redis: a cached route, whose clock is set by messages.
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fastify } from 'fastify';
import { Redis } from 'ioredis';
import { fastifyCache } from '../src/adapters/fastify.ts';
import { JsonCache, redisStore, tieredStore } from '../src/index.ts';

const [port, kind] = process.argv.slice(2);
const realNow = Date.now.bind(Date);
let aheadMs = 0;
Date.now = () => realNow() + aheadMs;

const client = new Redis(Number(port), { keyPrefix: `${kind}:` });
const options = { keyPrefix: 'renewing:' };
const store = kind === 'tieredStore' ? tieredStore(client, options) : redisStore(client, options);
/* A busy machine must not count as an outage. */
const cache = new JsonCache({ store, logger: false, timeoutMs: 30_000 });
if ('isCoherent' in store) while (!store.isCoherent) await sleep(5);

const runs: Record<string, number> = {};
const app = fastify();
await app.register(fastifyCache, { cache, hosts: 'any' });
const policy = { at: 'hook', ttl: 600_000, stale: 6_000_000, renew: 'behind' } as const;
app.get('/items/:id', { config: { cache: policy } }, async ({ url }) => {
  runs[`http://x${url}`] = (runs[`http://x${url}`] ?? 0) + 1;
  // Long enough for all processes to ask meanwhile.
  await sleep(100);
  // The number of the run in all processes.
  return { run: aheadMs === 0 ? 1 : 2 };
});
await app.listen({ port: 0, host: '127.0.0.1' });
process.on('message', (message: number | 'runs') => {
  if (message === 'runs') return process.send!(runs);
  aheadMs += message;
  return process.send!('set');
});
process.on('disconnect', async () => {
  await app.close();
  cache.close();
  client.disconnect();
});
process.send!((app.server.address() as AddressInfo).port);
