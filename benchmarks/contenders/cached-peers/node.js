// The cached route on Node: `node.js CONTENDER`, or one thread of CONTENDER in the environment, with the Redis in REDIS_URL and lines in LOG.
import { once } from 'node:events';
import process from 'node:process';
import { responseStoreOf, createServer, serverFactory } from '@redline/http';
import { engineLines } from '@redline/http/pino';
import { JsonCache, redisStore, tieredStore } from '@redline/response-cache';
import { fastifyCache } from '@redline/response-cache/fastify';
import Fastify from 'fastify';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { json, productOf } from './products.js';

const { HOST, PORT, REDIS_URL, LOG, CONTENDER = process.argv[2] } = process.env;
const freshMs = 3_600_000;
// As nginx has it: 64 KiB, or what is there after a second. Where each line is a string, pino measures all that it has gathered
// for each: there more than a page takes longer.
const gathered =
  CONTENDER === 'fastify-ioredis'
    ? { minLength: 4_096 }
    : { minLength: 64 * 1_024, maxWrite: 128 * 1_024 };
const destination = { dest: LOG, sync: false, periodicFlush: 1_000, ...gathered };
const logger = pino({ base: null }, pino.destination(destination));
const redis = new Redis(REDIS_URL, { enableAutoPipelining: true });
await once(redis, 'ready');

const servers = {
  'fastify-ioredis': byHand,
  'redline-redis': () => inTheHook(redisStore(redis, { readConnection: true })),
  'redline-memory': () => inTheHook(tieredStore(redis)),
  'redline-engine': inTheEngine,
};
await servers[CONTENDER]();

/** No package of ours. */
async function byHand() {
  const app = Fastify();
  logResponses(app, write);
  app.get('/products/:id', async (request, reply) => {
    reply.header('Content-Type', json);
    return redis.get(`product:${request.params.id}`);
  });
  await app.listen({ port: Number(PORT), host: HOST });
}

async function inTheHook(store) {
  const app = Fastify({ serverFactory });
  const responses = responseStoreOf(app.server);
  responses?.log(engineLines(logger));
  logResponses(app, (request, status, ms) => {
    if (!responses?.writeLine(request, status, ms)) write(request, status, ms);
  });
  await app.register(fastifyCache, { cache: new JsonCache({ store, ttl: freshMs }) });
  app.get('/products/:id', { config: { cache: { at: 'hook', identify: 'public' } } }, (request) =>
    JSON.parse(productOf(request.params.id)),
  );
  await app.listen({ port: Number(PORT), host: HOST });
}

/** As with axum: when the response is made. To hear that it has left, Fastify listens to each. */
function logResponses(app, writeLine) {
  app.addHook('onSend', (request, reply, payload, done) => {
    writeLine(request.raw, reply.statusCode, reply.elapsedTime);
    done(null, payload);
  });
}

/** The second time a response is the same, the engine stores it, and sends it and writes its line from then on. */
function inTheEngine() {
  const cache = new JsonCache({ store: tieredStore(redis), ttl: freshMs });
  const headers = { 'Content-Type': json };
  const server = createServer(async (request, response) => {
    const since = performance.now();
    const store = responseStoreOf(server);
    const ticket = store?.ticket();
    const id = request.url.slice('/products/'.length);
    const body = await cache.answer(id, () => JSON.parse(productOf(id)));
    response.writeHead(200, headers).end(body);
    write(request, 200, performance.now() - since);
    const line = store?.lines.line;
    store?.offer(request, { headers, body, freshMs, identify: 'public', line }, ticket);
  });
  server.listen(Number(PORT), HOST, () => responseStoreOf(server)?.log(engineLines(logger)));
}

function write({ headers, method, url }, statusCode, responseTime) {
  const reqId = headers['x-request-id'];
  logger.info({ reqId, method, url, statusCode, responseTime }, 'request completed');
}
