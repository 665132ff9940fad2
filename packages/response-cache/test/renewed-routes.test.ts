/* oxlint-disable oxc/no-async-endpoint-handlers -- Express 5 handles their rejections. */
// Routes whose responses are renewed behind others: by a request that the cache makes itself.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { startRedis } from '@redline/services';
import express from 'express';
import { fastify } from 'fastify';
import { cached } from '../src/adapters/express.ts';
import { fastifyCache } from '../src/adapters/fastify.ts';
import { isRenewal, JsonCache, type CachePolicy } from '../src/index.ts';
import { ask, type Sent } from './ask.ts';
import { clockOf } from './clock.ts';
import { until } from '@redline/services/until';

/** A request as its handler sees it. */
interface Asked {
  readonly isOwn: boolean;
  readonly headers: IncomingHttpHeaders;
  readonly address: string | undefined;
  readonly context: unknown;
  readonly url: string;
}

interface Reply {
  status(code: number): void;
  header(name: string, value: string): void;
}

interface Setting {
  readonly policy?: CachePolicy<any>;
  readonly handler: (run: number, reply: Reply) => unknown;
  /** Answers in place of the handler. */
  readonly refuses?: (asked: Asked) => boolean;
}

interface Served {
  readonly cache: JsonCache;
  readonly asked: Asked[];
  readonly lines: string[];
  get(headers?: Record<string, string>): Promise<Sent>;
}

type Serve = (t: TestContext, setting: Setting) => Promise<Served>;

const policy: CachePolicy<any> = { ttl: 1_000, stale: 60_000, renew: 'behind' };
const context = new AsyncLocalStorage<string>();

function parts(): { asked: Asked[]; lines: string[]; cache: JsonCache } {
  const lines: string[] = [];
  const push = (line: string): void => void lines.push(line);
  return { asked: [], lines, cache: new JsonCache({ logger: { warn: push, log: () => {} } }) };
}

async function serveFastify(
  t: TestContext,
  at: 'handler' | 'hook',
  { policy: own = {}, handler, refuses }: Setting,
): Promise<Served> {
  const { asked, lines, cache } = parts();
  const app = fastify();
  t.after(() => app.close());
  await app.register(fastifyCache, { cache });
  app.addHook('onRequest', (_request, _reply, done) => context.run('of a request', done));
  const look = (request: {
    raw: import('node:http').IncomingMessage;
    ip: string;
    url: string;
  }): Asked => ({
    isOwn: isRenewal(request),
    headers: { ...request.raw.headers },
    address: request.ip,
    context: context.getStore(),
    url: request.url,
  });
  app.addHook('onRequest', async (request, reply) => {
    if (refuses?.(look(request)) === true) return reply.code(401).send({ error: 'no' });
    return undefined;
  });
  const config = { cache: { at, reads: 'ignored', ...policy, ...own } as const };
  app.get('/items', { config }, async (request, reply) => {
    asked.push(look(request));
    return handler(asked.length, {
      status: (code) => void reply.code(code),
      header: (name, value) => void reply.header(name, value),
    });
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  return { cache, asked, lines, get: (headers) => ask(port, '/items?page=2', headers) };
}

async function serveExpress(
  t: TestContext,
  { policy: own = {}, handler, refuses }: Setting,
): Promise<Served> {
  const { asked, lines, cache } = parts();
  const app = express();
  app.set('env', 'test');
  const look = (request: express.Request): Asked => ({
    isOwn: isRenewal(request),
    headers: { ...request.headers },
    address: request.ip,
    context: context.getStore(),
    url: request.originalUrl,
  });
  app.use((_request, _response, next) => context.run('of a request', () => next()));
  app.use((request, response, next) => {
    if (refuses?.(look(request)) === true) response.status(401).json({ error: 'no' });
    else next();
  });
  const router = express.Router();
  const middleware = cached(cache, { reads: 'ignored', ...policy, ...own });
  router.get('/', middleware, async (request, response) => {
    asked.push(look(request));
    const made = await handler(asked.length, {
      status: (code) => void response.status(code),
      header: (name, value) => void response.setHeader(name, value),
    });
    response.json(made);
  });
  app.use('/items', router);
  const server = createServer(app).listen(0, '127.0.0.1');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { cache, asked, lines, get: (headers) => ask(port, '/items?page=2', headers) };
}

const entrances: Record<string, Serve> = {
  'fastifyCache, in the handler': (t, setting) => serveFastify(t, 'handler', setting),
  'fastifyCache, in the hook': (t, setting) => serveFastify(t, 'hook', setting),
  'cached() of Express': serveExpress,
};

for (const [name, serve] of Object.entries(entrances)) {
  describe(`Routes that are renewed behind their responses, by ${name}`, () => {
    it('send the old response to everyone at once, and have the new one made once', async (t) => {
      const clock = clockOf(t);
      const gate = Promise.withResolvers<void>();
      const { get, asked, cache } = await serve(t, {
        async handler(run, reply) {
          if (run === 2) await gate.promise;
          reply.status(run === 1 ? 200 : 203);
          reply.header('x-run', String(run));
          return { run };
        },
      });
      const headers = { 'x-custom': 'a', 'if-none-match': '"old"', range: 'bytes=0-1' };
      assert.equal((await get(headers)).text, '{"run":1}');
      clock.advance(1_500);
      // The handler does not end before the gate opens: nobody has waited for it.
      for (let i = 0; i < 5; i++) assert.equal((await get(headers)).text, '{"run":1}');
      await until('it is being made', () => asked.length === 2);
      assert.equal((await get(headers)).text, '{"run":1}');
      const [first, second] = asked;
      assert.deepEqual([first!.isOwn, second!.isOwn], [false, true]);
      const { 'if-none-match': _, range: _1, ...others } = first!.headers;
      assert.deepEqual(second!.headers, others);
      assert.deepEqual(
        [second!.address, second!.context, second!.url],
        [first!.address, 'of a request', '/items?page=2'],
      );
      gate.resolve();
      await until('it is kept', () => cache.stats.stores === 2);
      const hit = await get();
      assert.deepEqual([hit.status, hit.headers['x-run'], hit.text], [203, '2', '{"run":2}']);
      assert.equal(asked.length, 2);
    });

    it('wait for a new response as long as patience lasts', async (t) => {
      const clock = clockOf(t);
      const { get, asked } = await serve(t, {
        policy: { patience: 60_000 },
        handler: (run, reply) => {
          reply.header('x-run', String(run));
          return { run };
        },
      });
      await get();
      clock.advance(1_500);
      const sent = await get();
      assert.deepEqual([sent.text, sent.headers['x-run']], ['{"run":2}', '2']);
      assert.deepEqual(
        asked.map(({ isOwn }) => isOwn),
        [false, true],
      );
    });

    it('send the old response once patience is over', async (t) => {
      const clock = clockOf(t);
      const never = new Promise(() => {});
      const { get } = await serve(t, {
        policy: { renew: undefined, patience: 1 } as never,
        handler: (run) => (run === 1 ? { run } : never),
      });
      await get();
      clock.advance(1_500);
      assert.equal((await get()).text, '{"run":1}');
    });

    it('send the old response where the handler fails, and say so once', async (t) => {
      const clock = clockOf(t);
      const { get, asked, lines } = await serve(t, {
        handler(run) {
          if (run > 1) throw new Error('no database');
          return { run };
        },
      });
      await get();
      clock.advance(1_500);
      for (const runs of [2, 3]) {
        assert.equal((await get()).text, '{"run":1}');
        await until('it has failed', () => asked.length === runs && lines.length === 1);
      }
      // The next one begins once the last one has failed.
      await until('another one', async () => {
        assert.equal((await get()).text, '{"run":1}');
        return asked.length > 3;
      });
      assert.equal(lines.length, 1);
      assert.match(lines[0]!, /^The renewal of ".*\/items.*" behind its responses failed: /);
    });

    it('send the old response where something ahead of the handler refuses the request', async (t) => {
      const clock = clockOf(t);
      const { get, asked, lines } = await serve(t, {
        handler: (run) => ({ run }),
        refuses: ({ isOwn }) => isOwn,
      });
      await get();
      clock.advance(1_500);
      assert.equal((await get()).text, '{"run":1}');
      await until('it is refused', () => lines.length === 1);
      assert.match(
        lines[0]!,
        /failed: something ahead of its handler answers with the status 401$/,
      );
      assert.equal(asked.length, 1);
      assert.equal((await get()).text, '{"run":1}');
    });

    it('keep nothing that is not for all: a cookie, a status', async (t) => {
      const clock = clockOf(t);
      const { get, asked, cache } = await serve(t, {
        handler(run, reply) {
          if (run === 2) reply.header('set-cookie', 'a=b');
          if (run > 2) reply.status(404);
          return { run };
        },
      });
      await get();
      clock.advance(1_500);
      // One begins once the result of the one before is not kept.
      for (const runs of [2, 3, 4]) {
        await until('it is made', async () => {
          assert.equal((await get()).text, '{"run":1}');
          return asked.length === runs;
        });
      }
      assert.equal(cache.stats.stores, 1);
    });

    it('keep nothing under the key of another caller', async (t) => {
      const clock = clockOf(t);
      const { get, asked, cache } = await serve(t, {
        policy: { identify: (request: object) => (isRenewal(request) ? 'b' : 'a') },
        handler: (run) => ({ run }),
      });
      await get();
      clock.advance(1_500);
      assert.equal((await get()).text, '{"run":1}');
      await until('it is made', () => asked.length === 2);
      assert.equal((await get()).text, '{"run":1}');
      assert.equal(cache.stats.stores, 1);
    });

    it('send what is invalidated softly until there is a new response, and nothing that is invalidated', async (t) => {
      const gate = Promise.withResolvers<void>();
      const { get, asked, cache } = await serve(t, {
        policy: { ttl: 60_000, tags: ['all'] },
        async handler(run) {
          if (run === 2) await gate.promise;
          return { run };
        },
      });
      await get();
      await cache.invalidate('all', { soft: true });
      for (let i = 0; i < 3; i++) assert.equal((await get()).text, '{"run":1}');
      await until('it is being made', () => asked.length === 2);
      gate.resolve();
      await until('it is kept', () => cache.stats.stores === 2);
      assert.equal((await get()).text, '{"run":2}');
      await cache.invalidate('all');
      assert.equal((await get()).text, '{"run":3}');
      await cache.invalidate('all', { soft: true });
      await cache.invalidate('all');
      assert.equal((await get()).text, '{"run":4}');
    });
  });
}

describe('Options of a renewal', () => {
  it('are refused where nothing would be renewed by them', () => {
    const cache = new JsonCache({ logger: false });
    const code = 'ERR_REDLINE_CACHE_OPTION';
    for (const own of [
      { renew: 'behind' },
      { patience: 5, stale: 0 },
      { renew: 'now', stale: 1 },
      { patience: 0, stale: 1 },
      { patience: 1.5, stale: 1 },
    ] as never[])
      assert.throws(() => cached(cache, own), { code }, JSON.stringify(own));
    cached(cache, { renew: 'behind', early: true });
  });
});

describe('Routes of several processes on one Redis', () => {
  it('are renewed by one process for each key', async (t) => {
    const redis = await startRedis();
    if (redis === undefined) return t.skip('there is no redis-server on PATH');
    const workers: ChildProcess[] = [];
    try {
      for (const store of ['redisStore', 'tieredStore']) {
        const started: ChildProcess[] = [1, 2, 3].map(() =>
          fork(join(import.meta.dirname, 'renewing-server.ts'), [String(redis.port), store]),
        );
        workers.push(...started);
        const ports = (await Promise.all(started.map((each) => once(each, 'message')))).map(
          ([port]) => port as number,
        );
        const paths = ['/items/1', '/items/2', '/items/3', '/items/4'];
        const get = async (path: string, at: number): Promise<string> =>
          (await ask(ports[at % ports.length]!, path)).text;
        for (const path of paths) await get(path, 0);
        for (const each of started) {
          each.send(900_000);
          await once(each, 'message');
        }
        const sent = await Promise.all(
          paths.flatMap((path) => Array.from({ length: 30 }, (_, at) => get(path, at))),
        );
        // The last of them may come behind the renewal.
        for (const each of sent) assert.match(each, /^\{"run":[12]\}$/, store);
        for (const path of paths)
          for (let at = 0; at < ports.length; at++)
            await until(`${path} is renewed`, async () => (await get(path, at)) === '{"run":2}');
        const runs: Record<string, number>[] = await Promise.all(
          started.map(async (each) => {
            each.send('runs');
            const [message] = (await once(each, 'message')) as [Record<string, number>];
            return message;
          }),
        );
        const all = paths.map((path) =>
          runs.reduce((sum, own) => sum + (own[`http://x${path}`] ?? 0), 0),
        );
        assert.deepEqual(all, [2, 2, 2, 2], store);
      }
    } finally {
      const ended = workers.map((worker) => once(worker, 'exit'));
      for (const worker of workers) worker.disconnect();
      await Promise.all(ended);
      await redis.stop();
    }
  });
});
