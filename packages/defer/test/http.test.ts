// The same sentences for Fastify and Express.
import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import {
  createServer,
  request,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect, constants } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { describe, test, type TestContext } from 'node:test';
import express, { type ErrorRequestHandler } from 'express';
import fastify, { type DoneFuncWithErrOrRes } from 'fastify';
import { createDefer } from '../src/create-defer.ts';
import { defer } from '../src/defer.ts';
import type { Deferrer } from '../src/deferrer.ts';
import { expressDefer } from '../src/adapters/express.ts';
import { fastifyDefer } from '../src/adapters/fastify.ts';
import { defineJob } from '../src/job/job.ts';
import { nodeFs, type JournalFs } from '../src/journal/journal-fs.ts';
import type { DeferOptions } from '../src/options.ts';
import { handlers } from '../src/sinks/handlers.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestSink } from './harness.ts';

const job = defineJob<string>('job');
const user = new AsyncLocalStorage<string>();
type Framework = 'fastify' | 'express';

interface App {
  readonly url: string;
  readonly deferrer: Deferrer;
  readonly sink: TestSink;
  get(path: string): Promise<Response>;
}

/** What the handlers do, whatever the framework. */
const routes = {
  '/throws': async (): Promise<void> => {
    await Promise.resolve();
    defer(job, 'always');
    defer(job, 'success', { when: 'success', level: 'process' });
    throw new Error('as it is meant to');
  },
  '/deep': async (): Promise<object> => {
    const deeper = async (): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      defer(job, 'deep');
    };
    await Promise.all([deeper(), deeper()]);
    return {};
  },
  '/memory': (): object => levelled('memory'),
  '/process': (): object => levelled('process'),
  '/disk': (): object => levelled('disk'),
  '/sink': (): object => levelled('sink'),
};

function levelled(level: 'memory' | 'process' | 'disk' | 'sink'): object {
  defer(job, 'success', { level, when: 'success' });
  defer(job, 'always', { level });
  defer(job, 'aborted', { level, when: 'aborted' });
  return { level };
}

function onlySuccess(): object {
  defer(job, 'success', { level: 'process', when: 'success' });
  return {};
}

function onlyProcess(): object {
  defer(job, 'process', { level: 'process' });
  return {};
}

/* From code of the request that is still at work when its reply is gone. */
function deferLater(incoming: IncomingMessage, response: ServerResponse): void {
  const later = AsyncLocalStorage.bind(() => {
    const level = nameIn(incoming) as 'memory';
    for (const when of ['always', 'success', 'aborted'] as const) defer(job, when, { level, when });
  });
  response.on('close', () => setImmediate(later));
}

let whenAsked = Promise.withResolvers<void>();

/** A stream that defers a job when its first words are on their way, and the test says so. */
function streamWithin(level: 'process' | 'disk'): Readable {
  const inRequest = AsyncLocalStorage.snapshot();
  async function* words(): AsyncGenerator<string> {
    yield 'one';
    await whenAsked.promise;
    inRequest(() => defer(job, 'within', { level }));
    yield 'two';
    yield 'three';
  }
  return Readable.from(words(), { objectMode: false });
}

function nameIn({ url }: IncomingMessage): string {
  return url!.split('?')[1]!;
}

const starts: Record<Framework, (deferrer: Deferrer) => Promise<Server>> = {
  async fastify(deferrer) {
    const app = fastify({ forceCloseConnections: true });
    await app.register(fastifyDefer, { deferrer, closeWithApp: false });
    for (const [path, handler] of Object.entries(routes)) app.get(path, async () => handler());
    app.get('/success', async () => onlySuccess());
    app.get('/later', async ({ raw }, reply) => {
      deferLater(raw, reply.raw);
      return {};
    });
    app.get('/leaves', () => {
      defer(job, 'gone', { level: 'process', when: 'aborted' });
      return new Promise(() => {});
    });
    app.get('/within-process', async () => streamWithin('process'));
    app.get('/within-disk', async () => streamWithin('disk'));
    const deferTwo = {
      onSend(_: unknown, __: unknown, payload: unknown, next: DoneFuncWithErrOrRes): void {
        defer(job, 'hook', { level: 'process' });
        next(null, payload);
      },
    };
    app.get('/hook', deferTwo, async () => ({}));
    app.get('/hook-too', deferTwo, async () => onlyProcess());
    app.get(
      '/named',
      {
        onRequest: (incoming, _, next) => user.run(nameIn(incoming.raw), next),
        onResponse: (incoming, _, next) => {
          ended.push([nameIn(incoming.raw), user.getStore()]);
          next();
        },
      },
      async () => onlyProcess(),
    );
    app.get('/hangs', () => {
      levelled('process');
      return new Promise(() => {});
    });
    app.get('/stream', () => {
      defer(job, 'stream', { level: 'disk' });
      return Readable.from(['one', 'two', 'three']);
    });
    app.get(
      '/user',
      () => user.run('ada', () => defer.after(() => seen.push(user.getStore()))) ?? {},
    );
    app.setNotFoundHandler((_, reply) => {
      defer(job, 'lost');
      return reply.code(404).send({});
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    return app.server;
  },
  async express(deferrer) {
    const app = express();
    app.use('/bad-end', (_, response, next) => {
      response.end = () => {
        throw new Error('of a middleware around end()');
      };
      next();
    });
    app.use(expressDefer(deferrer));
    for (const [path, handler] of Object.entries(routes)) {
      app.get(path, async (_, response) => void response.json(await handler()));
    }
    app.get('/hangs', () => void levelled('process'));
    app.get('/success', (_, response) => void response.json(onlySuccess()));
    app.get('/later', (incoming, response) => {
      deferLater(incoming, response);
      response.json({});
    });
    app.get('/leaves', () => void defer(job, 'gone', { level: 'process', when: 'aborted' }));
    app.get('/within-process', (_, response) => void streamWithin('process').pipe(response));
    app.get('/within-disk', (_, response) => void streamWithin('disk').pipe(response));
    app.get('/named', (incoming, response) => {
      const name = nameIn(incoming);
      response.on('finish', () => ended.push([name, user.getStore()]));
      user.run(name, () => response.json(onlyProcess()));
    });
    app.get('/late-error', async (_, response) => {
      defer(job, 'late', { level: 'disk' });
      response.json({ ok: true });
      await Promise.resolve();
      throw new Error('behind the reply');
    });
    app.get('/bad-end', (_, response) => {
      defer(job, 'bad', { level: 'process' });
      response.json({});
    });
    app.get('/good-end', (_, response) => {
      defer(job, 'good', { level: 'process' });
      response.json({});
    });
    app.get('/stream', (_, response) => {
      defer(job, 'stream', { level: 'disk' });
      Readable.from(['one', 'two', 'three']).pipe(response);
    });
    app.get('/user', (_, response) => {
      user.run('ada', () => defer.after(() => seen.push(user.getStore())));
      response.json({});
    });
    app.use((_, response) => {
      defer(job, 'lost');
      response.status(404).json({});
    });
    const onError: ErrorRequestHandler = (_error, _request, response, _next) => {
      response.status(500).json({});
    };
    app.use(onError);
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  },
};

const seen: unknown[] = [];
/** Whose reply ended, and in whose context. */
const ended: [name: string, store: string | undefined][] = [];

for (const framework of ['fastify', 'express'] as const) {
  describe(framework, () => {
    test('jobs go when the reply has gone, each as its outcome asks', async (t) => {
      for (const level of ['memory', 'process', 'disk', 'sink']) {
        const { get, sink } = await start(t, framework);
        const reply = await get(`/${level}`);
        assert.deepEqual(await reply.json(), { level });
        await until(`the jobs of ${level}`, () => sink.data.length >= 2);
        assert.deepEqual(sink.data.sort(), ['always', 'success'], level);
      }
    });

    test('a handler that throws loses only what was meant for success', async (t) => {
      const { get, sink } = await start(t, framework);
      assert.equal((await get('/throws')).status, 500);
      await get('/deep');
      await until('the next request', () => sink.data.length >= 3);
      assert.deepEqual(sink.data, ['always', 'deep', 'deep']);
    });

    test('a job deferred behind the reply goes at once, if the outcome is the one it is meant for', async (t) => {
      for (const level of ['memory', 'process', 'disk', 'sink']) {
        const { get, sink, deferrer } = await start(t, framework);
        assert.equal((await get(`/later?${level}`)).status, 200);
        await until(`the jobs of ${level}`, () => sink.data.length >= 2);
        assert.deepEqual(sink.data.sort(), ['always', 'success'], level);
        await until('an empty queue', () => deferrer.queues.get('test')!.depth === 0);
      }
    });

    test('a route that is not there has a request too', async (t) => {
      const { get, sink } = await start(t, framework);
      assert.equal((await get('/nowhere')).status, 404);
      await until('the job', () => sink.data.length > 0);
    });

    test('a stream is held until its job is safe, and arrives whole', async (t) => {
      const { get, sink } = await start(t, framework);
      assert.equal(await (await get('/stream')).text(), 'onetwothree');
      await until('the job', () => sink.data.length > 0);
    });

    test('a stream goes on when what it deferred on its way is safe', async (t) => {
      // Of the file, and of its folder.
      const syncs: (() => void)[] = [];
      const fs: JournalFs = {
        ...nodeFs,
        fdatasync: (fd, done) => void syncs.push(() => nodeFs.fdatasync(fd, done)),
      };
      const { get } = await start(t, framework, {
        journal: { directory: temporaryFolder(t), fs },
      });
      whenAsked = Promise.withResolvers();
      const reader = (await get('/within-disk')).body!.getReader();
      let text = new TextDecoder().decode((await reader.read()).value);
      assert.equal(text, 'one');
      let isMore = false;
      const rest = (async () => {
        for (let more = await reader.read(); !more.done; more = await reader.read()) {
          isMore = true;
          text += new TextDecoder().decode(more.value);
        }
      })();
      whenAsked.resolve();
      await until('the sync', () => syncs.length > 0);
      assert.equal(isMore, false);
      fs.fdatasync = nodeFs.fdatasync;
      for (const sync of syncs) sync();
      await rest;
      assert.equal(text, 'onetwothree');
    });

    test('a stream is cut off when what it deferred on its way is not safe', async (t) => {
      let isFull = false;
      const fs: JournalFs = {
        ...nodeFs,
        writeSync(...args) {
          if (isFull) throw new Error('ENOSPC');
          return nodeFs.writeSync(...args);
        },
      };
      const { get, deferrer } = await start(t, framework, {
        journal: { directory: temporaryFolder(t), fs },
      });
      whenAsked = Promise.withResolvers();
      const reply = await get('/within-process');
      assert.equal(reply.status, 200);
      isFull = true;
      whenAsked.resolve();
      await assert.rejects(reply.text());
      isFull = false;
      await until('its end', () => deferrer.queues.get('test')!.depth === 0);
      assert.equal(await (await get('/within-process')).text(), 'onetwothree');
    });

    test('a client that goes away has the jobs meant for it, and no others', async (t) => {
      const { url, deferrer, sink } = await start(t, framework);
      const call = request(`${url}/hangs`);
      call.on('error', () => {});
      call.end();
      await until('the handler', () => deferrer.queues.get('test')!.depth === 3);
      call.destroy();
      await until('the jobs', () => sink.data.length === 2);
      assert.deepEqual(sink.data.sort(), ['aborted', 'always']);
    });

    test('nothing leaves before the write or the sync it claims', async (t) => {
      for (const level of ['process', 'disk'] as const) {
        let isWritten = false;
        let sync: (() => void) | undefined;
        const fs: JournalFs = {
          ...nodeFs,
          writeSync(...args) {
            isWritten = true;
            return nodeFs.writeSync(...args);
          },
          fdatasync(fd, callback) {
            sync = () => nodeFs.fdatasync(fd, callback);
          },
        };
        const { get } = await start(t, framework, {
          journal: { directory: temporaryFolder(t), fs },
        });
        let isAnswered = false;
        const reply = get(`/${level}`).finally(() => {
          isAnswered = true;
        });
        if (level === 'disk') {
          await until('the sync', () => sync !== undefined);
          assert.equal(isAnswered, false);
          sync!();
          const again = setInterval(() => sync?.(), 1);
          await reply;
          clearInterval(again);
        }
        await reply;
        assert.equal(isWritten, true);
        fs.fdatasync = nodeFs.fdatasync;
        sync?.();
      }
    });

    test('a level that is not reached is a 503, and what was meant for success is withdrawn', async (t) => {
      let isFull = false;
      const fs: JournalFs = {
        ...nodeFs,
        writeSync(...args) {
          if (isFull)
            throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
          return nodeFs.writeSync(...args);
        },
      };
      const { get, sink } = await start(t, framework, {
        journal: { directory: temporaryFolder(t), fs },
      });
      await get('/process');
      await until('the jobs', () => sink.data.length === 2);
      isFull = true;
      for (const level of ['process', 'disk']) {
        const reply = await get(`/${level}`);
        assert.equal(reply.status, 503);
        const body = (await reply.json()) as { code: string; message: string };
        assert.equal(body.code, 'ERR_REDLINE_DEFER_NOT_ACKNOWLEDGED');
        assert.match(body.message, /ERR_REDLINE_DEFER_JOURNAL/);
      }
      isFull = false;
      assert.equal((await get('/disk')).status, 200);
      await until('the jobs', () => sink.data.filter((data) => data === 'success').length >= 2);
      assert.equal(sink.data.filter((data) => data === 'success').length, 2);
    });

    test('the context of the request is that of its work', async (t) => {
      const { get } = await start(t, framework);
      seen.length = 0;
      await get('/user');
      await until('the closure', () => seen.length > 0);
      assert.deepEqual(seen, ['ada']);
    });

    test('a handler runs in the context it was deferred in, with the trace of its request', async (t) => {
      const got: unknown[] = [];
      const sink = handlers({
        job: (data, { context }) => got.push([data, context?.traceparent, user.getStore()]),
      });
      const deferrer = createDefer({ sinks: { work: sink }, handleSignals: false });
      const server = await starts[framework](deferrer);
      t.after(async () => {
        server.close();
        server.closeAllConnections();
        await deferrer.close();
      });
      const { port } = server.address() as AddressInfo;
      const headers = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
      await fetch(`http://127.0.0.1:${port}/deep`, { headers });
      await until('both', () => got.length === 2);
      assert.deepEqual(got[0], ['deep', headers.traceparent, undefined]);
    });

    test('a reply that was held goes on in the context of its own request', async (t) => {
      const { get } = await start(t, framework);
      ended.length = 0;
      const names = Array.from({ length: 20 }, (_, n) => `user${n}`);
      await Promise.all(names.map(async (name) => (await get(`/named?${name}`)).text()));
      await until('all of them', () => ended.length === names.length);
      assert.deepEqual(
        ended.filter(([name, store]) => name !== store),
        [],
      );
    });

    test('a journal at its quota is a 503, and no crash when the client is gone', async (t) => {
      const { url, deferrer, sink, get } = await start(t, framework, {
        journal: { directory: temporaryFolder(t), maxBytes: 4_000 },
      });
      sink.answer = () => {
        throw new Error('away');
      };
      // What is not written does not count yet.
      const { stats } = deferrer.queues.get('test')!;
      await until('the quota', async () => {
        try {
          await deferrer.defer(job, 'x'.repeat(100), { level: 'process' }).acknowledged();
        } catch {
          return stats.rejected === 1;
        }
        return false;
      });
      const { depth } = deferrer.queues.get('test')!;
      const call = request(`${url}/leaves`);
      call.on('error', () => {});
      call.end();
      await until('the handler', () => deferrer.queues.get('test')!.depth > depth);
      call.destroy();
      const reply = await get('/success');
      assert.equal(reply.status, 503);
      assert.match(((await reply.json()) as { message: string }).message, /ERR_REDLINE_DEFER_FULL/);
      assert.equal((await get('/memory')).status, 200);
      sink.answer = () => undefined;
    });

    test('a slow sink makes no reply slower: they wait for it at level sink alone', async (t) => {
      const { get, sink } = await start(t, framework);
      sink.isPaused = true;
      for (const level of ['memory', 'process', 'disk']) {
        assert.equal((await get(`/${level}`)).status, 200);
      }
      sink.resume();
    });

    test('level sink gives up after acknowledgeTimeoutMs', async (t) => {
      const { get, sink } = await start(t, framework, { acknowledgeTimeoutMs: 5 });
      sink.isPaused = true;
      assert.equal((await get('/sink')).status, 503);
      sink.resume();
    });
  });
}

describe('fastify', () => {
  for (const path of ['/hook', '/hook-too']) {
    test(`a reply waits for what a hook defers behind the plugin's own: ${path}`, async (t) => {
      let isFull = false;
      const fs: JournalFs = {
        ...nodeFs,
        writeSync(...args) {
          // The job of the hook alone, which is the second one of a request that has two.
          const text = Buffer.from(args[1]).toString();
          if (isFull && text.includes('hook')) throw new Error('ENOSPC');
          return nodeFs.writeSync(...args);
        },
      };
      const { get, sink } = await start(t, 'fastify', {
        journal: { directory: temporaryFolder(t), fs },
      });
      assert.equal((await get(path)).status, 200);
      await until('the job', () => sink.data.includes('hook'));
      isFull = true;
      const refused = await get(path);
      assert.equal(refused.status, 503);
      assert.match(await refused.text(), /ERR_REDLINE_DEFER_NOT_ACKNOWLEDGED/);
      isFull = false;
      assert.equal((await get(path)).status, 200);
    });
  }
});

describe('express', () => {
  test('an error behind the reply does not get into it while it is held', async (t) => {
    const { get } = await start(t, 'express');
    const reply = await get('/late-error');
    assert.equal(reply.status, 200);
    assert.deepEqual(await reply.json(), { ok: true });
  });

  test('a reply that throws when it is let go keeps nobody else from being let go', async (t) => {
    const sync = Promise.withResolvers<void>();
    const { get, deferrer } = await start(t, 'express');
    const thrown: unknown[] = [];
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', (error: Error) => {
      thrown.push(error.message);
      sync.resolve();
    });
    t.after(() => {
      process.removeAllListeners('uncaughtException');
      for (const listener of listeners) process.on('uncaughtException', listener);
    });
    const controller = new AbortController();
    const bad = fetch(String((await get('/memory')).url).replace('/memory', '/bad-end'), {
      signal: controller.signal,
    }).catch(() => {});
    const good = await get('/good-end');
    assert.equal(good.status, 200);
    await sync.promise;
    assert.deepEqual(thrown, ['of a middleware around end()']);
    controller.abort();
    await bad;
    assert.equal(deferrer.queues.get('test')!.stats.dropped.overflow, 0);
  });
});

test('over HTTP/2 a stream that its client cancels is aborted, and no success', async (t) => {
  const sink = new TestSink();
  const deferrer = createDefer<string>({ sinks: { test: sink }, handleSignals: false });
  const app = fastify({ http2: true });
  await app.register(fastifyDefer, { deferrer });
  const answer = Promise.withResolvers<object>();
  for (const [path, reply] of [['/answers', {}] as const, ['/hangs', answer.promise] as const]) {
    app.get(path, () => {
      levelled('memory');
      return Promise.resolve(reply);
    });
  }
  await app.listen({ port: 0, host: '127.0.0.1' });
  const client = connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
  t.after(async () => {
    client.destroy();
    answer.resolve({});
    await app.close();
  });
  const answered = client.request({ ':path': '/answers' }).resume();
  await once(answered, 'close');
  await until('the jobs', () => sink.data.length === 2);
  assert.deepEqual(sink.data.sort(), ['always', 'success']);
  const cancelled = client.request({ ':path': '/hangs' }).on('error', () => {});
  await until('the handler', () => deferrer.queues.get('test')!.depth === 3);
  cancelled.close(constants.NGHTTP2_CANCEL);
  await until('the jobs', () => sink.data.length === 4);
  assert.deepEqual(sink.data.slice(2).sort(), ['aborted', 'always']);
});

async function start(
  t: TestContext,
  framework: Framework,
  options: Partial<DeferOptions> = {},
): Promise<App> {
  const sink = new TestSink();
  const deferrer = createDefer<string>({
    sinks: { test: { sink, batch: { waitMs: 0 } } },
    journal: { directory: temporaryFolder(t) },
    handleSignals: false,
    logger: false,
    ...options,
  });
  const server = await starts[framework](deferrer);
  t.after(async () => {
    server.close();
    server.closeAllConnections();
    await deferrer.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, deferrer, sink, get: (path) => fetch(url + path) };
}

test('on Express, a response is held behind wrappers that make its header themselves, as compression does', async (t) => {
  const deferrer = createDefer({
    sinks: { test: new TestSink() },
    journal: { directory: temporaryFolder(t) },
    level: 'process',
    handleSignals: false,
    logger: false,
  });
  const app = express();
  app.use(expressDefer(deferrer));
  app.use((_request, _response, next) => {
    defer(job, 'early');
    next();
  });
  app.use((_request, response, next) => {
    for (const name of ['write', 'end'] as const) {
      const original = response[name] as (...args: unknown[]) => never;
      response[name] = (...args: unknown[]) => {
        if (!response.headersSent) response.writeHead(response.statusCode);
        return original.apply(response, args);
      };
    }
    next();
  });
  app.get('/', (_request, response) => {
    response.status(201).write('all ');
    response.end('is well');
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    server.close().closeAllConnections();
    await deferrer.close();
  });
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  assert.deepEqual([response.status, await response.text()], [201, 'all is well']);
});
