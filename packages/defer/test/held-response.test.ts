// Those who wrap the methods of a response, as compression, sessions and logs do, and defer there.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  createServer,
  request,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { describe, test, type TestContext } from 'node:test';
import { createGzip, gunzipSync } from 'node:zlib';
import express from 'express';
import fastify from 'fastify';
import { expressDefer } from '../src/adapters/express.ts';
import { attachToFastify, fastifyDefer } from '../src/adapters/fastify.ts';
import { createDefer } from '../src/create-defer.ts';
import { defer } from '../src/defer.ts';
import type { Deferrer } from '../src/deferrer.ts';
import { defineJob, type When } from '../src/job/job.ts';
import { nodeFs, type JournalFs } from '../src/journal/journal-fs.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestSink } from './harness.ts';

const job = defineJob<string>('job');

type Change = (response: ServerResponse, deferIt: () => void) => void;
type Handler = (response: ServerResponse) => void;
type Name = 'end' | 'write' | 'writeHead' | 'flushHeaders';

interface Shape {
  /** What is done to the response of each request. */
  readonly change: Change;
  readonly handler: Handler;
}

function wrapping(name: Name): Change {
  return (response, deferIt) => {
    const original = response[name] as (...args: unknown[]) => never;
    response[name] = function (this: ServerResponse, ...args: unknown[]) {
      deferIt();
      return original.apply(this, args);
    } as never;
  };
}

/* As on-headers does it, which sessions and the times of responses are built on: once, and before the header is made. */
function onHeaders(response: ServerResponse, listener: () => void): void {
  const { writeHead } = response;
  let isOver = false;
  response.writeHead = function (this: ServerResponse, ...args: unknown[]) {
    if (!isOver) listener();
    isOver = true;
    return Reflect.apply(writeHead, this, args) as ServerResponse;
  } as never;
}

/* As compression does it: bytes come out of a stream, later, by the methods that were there before. */
function compressing(response: ServerResponse): void {
  const { write, end } = response;
  const gzip = createGzip();
  onHeaders(response, () => {
    response.removeHeader('content-length');
    response.setHeader('content-encoding', 'gzip');
  });
  gzip.on('data', (chunk) => {
    if (Reflect.apply(write, response, [chunk]) === false) gzip.pause();
  });
  gzip.on('end', () => void Reflect.apply(end, response, []));
  response.on('drain', () => gzip.resume());
  const makeHeader = (): void => {
    if (!response.headersSent) response.writeHead(response.statusCode);
  };
  response.write = ((chunk: string) => {
    makeHeader();
    return gzip.write(chunk);
  }) as never;
  response.end = ((chunk?: string) => {
    makeHeader();
    gzip.end(chunk);
    return response;
  }) as never;
}

const inOne: Handler = (response) => void response.end('it is all well');
const inPieces: Handler = (response) => {
  response.write('it is ');
  response.end('all well');
};

const shapes: Record<string, Shape> = {
  'end()': { change: wrapping('end'), handler: inOne },
  'end() of a body in pieces': { change: wrapping('end'), handler: inPieces },
  'write()': { change: wrapping('write'), handler: inPieces },
  'writeHead()': { change: wrapping('writeHead'), handler: inOne },
  'writeHead(), which write() needs': { change: wrapping('writeHead'), handler: inPieces },
  'writeHead(), called by the handler': {
    change: wrapping('writeHead'),
    handler: (response) => void response.writeHead(200, { 'x-own': '1' }).end('it is all well'),
  },
  'writeHead(), as on-headers does it': { change: onHeaders, handler: inOne },
  'flushHeaders()': {
    change: wrapping('flushHeaders'),
    handler(response) {
      response.flushHeaders();
      response.end('it is all well');
    },
  },
  'end() and writeHead()': {
    change(response, deferIt) {
      wrapping('writeHead')(response, deferIt);
      wrapping('end')(response, deferIt);
    },
    handler: inOne,
  },
  'end(), which is called later': {
    change(response, deferIt) {
      const { end } = response;
      response.end = ((...args: unknown[]) => {
        setImmediate(() => {
          deferIt();
          Reflect.apply(end, response, args);
        });
        return response;
      }) as never;
    },
    handler: inOne,
  },
  'end() around compression': {
    change(response, deferIt) {
      compressing(response);
      wrapping('end')(response, deferIt);
    },
    handler: inPieces,
  },
  'end() within compression': {
    change(response, deferIt) {
      wrapping('end')(response, deferIt);
      compressing(response);
    },
    handler: inPieces,
  },
  'writeHead() within compression': {
    change(response, deferIt) {
      onHeaders(response, deferIt);
      compressing(response);
    },
    handler: inPieces,
  },
};

type Framework = 'express' | 'fastify' | 'node:http';

interface Options {
  /** On the response before the middleware sees it. */
  readonly before?: Handler;
  /** Behind the middleware. */
  readonly after?: Handler;
  readonly handler: Handler;
}

const starts: Record<Framework, (deferrer: Deferrer, options: Options) => Promise<Server>> = {
  async express(deferrer, { before, after, handler }) {
    const app = express();
    app.use((_request, response, next) => {
      before?.(response);
      next();
    });
    app.use(expressDefer(deferrer));
    app.use((_request, response, next) => {
      after?.(response);
      next();
    });
    app.get('/', (_request, response) => handler(response));
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  },
  async fastify(deferrer, { before, after, handler }) {
    const app = fastify({ forceCloseConnections: true });
    app.addHook('onRequest', (_request, reply, next) => {
      before?.(reply.raw);
      next();
    });
    await app.register(fastifyDefer, { deferrer, closeWithApp: false });
    app.addHook('onRequest', (_request, reply, next) => {
      after?.(reply.raw);
      next();
    });
    // Around the framework, which would call methods in an order of its own.
    app.get('/', (_request, reply) => {
      reply.hijack();
      handler(reply.raw);
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    return app.server;
  },
  async 'node:http'(deferrer, { before, after, handler }) {
    const middleware = expressDefer(deferrer);
    const server = createServer((incoming, response) => {
      before?.(response);
      middleware(incoming, response, () => {
        after?.(response);
        handler(response);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  },
};
const frameworks = Object.keys(starts) as Framework[];

interface App {
  readonly sink: TestSink;
  /** While true, nothing can be written to the journal. */
  isFull: boolean;
  readonly url: string;
}

async function start(t: TestContext, framework: Framework, options: Options): Promise<App> {
  const sink = new TestSink();
  const fs: JournalFs = {
    ...nodeFs,
    writeSync(...args) {
      if (app.isFull) throw new Error('ENOSPC');
      return nodeFs.writeSync(...args);
    },
  };
  const deferrer = createDefer<string>({
    sinks: { test: { sink, batch: { waitMs: 0 } } },
    journal: { directory: temporaryFolder(t), fs },
    handleSignals: false,
    logger: false,
  });
  const server = await starts[framework](deferrer, options);
  t.after(async () => {
    server.close().closeAllConnections();
    await deferrer.close();
  });
  const { port } = server.address() as AddressInfo;
  const app: App = { sink, isFull: false, url: `http://127.0.0.1:${port}` };
  return app;
}

interface Got {
  readonly status: number;
  readonly text: string;
}

/* On a connection of its own, of which everything is read: whatever comes behind a response is garbage. */
async function get(url: string): Promise<Got | 'cut off'> {
  try {
    const call = request(url, { agent: false });
    call.end();
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const isZipped = response.headers['content-encoding'] === 'gzip';
    return { status: response.statusCode!, text: String(isZipped ? gunzipSync(body) : body) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNRESET') return 'cut off';
    throw error;
  }
}

const allWell: Got = { status: 200, text: 'it is all well' };

for (const framework of frameworks) {
  describe(framework, () => {
    for (const [what, { change, handler }] of Object.entries(shapes)) {
      for (const when of ['always', 'success'] as const) {
        test(`a job deferred in a wrapper of ${what} is waited for: ${when}`, async (t) => {
          const deferIt = (): void => void defer(job, 'wrapper', { level: 'process', when });
          const after: Handler = (response) => change(response, deferIt);
          const app = await start(t, framework, { after, handler });
          assert.deepEqual(await get(app.url), allWell);
          await until('the job', () => app.sink.data.includes('wrapper'));
          app.isFull = true;
          const refused = await get(app.url);
          if (refused !== 'cut off') {
            assert.equal(refused.status, 503);
            assert.match(refused.text, /ERR_REDLINE_DEFER_NOT_ACKNOWLEDGED/);
          }
          app.isFull = false;
          assert.deepEqual(await get(app.url), allWell);
        });
      }

      test(`a wrapper of ${what} defers behind a job of the handler`, async (t) => {
        const app = await start(t, framework, {
          after: (response) => {
            change(response, () => void defer(job, 'wrapper', { level: 'disk' }));
          },
          handler(response) {
            defer(job, 'handler', { level: 'process', when: 'success' });
            handler(response);
          },
        });
        assert.deepEqual(await get(app.url), allWell);
        await until('both', () => new Set(app.sink.data).size === 2);
        app.isFull = true;
        const refused = await get(app.url);
        assert.equal(refused === 'cut off' ? 503 : refused.status, 503);
      });

      test(`an older wrapper of ${what} corrupts nothing, and claims nothing`, async (t) => {
        const before: Handler = (response) =>
          change(response, () => void defer(job, 'wrapper', { level: 'process' }));
        const app = await start(t, framework, { before, handler });
        const got = await get(app.url);
        if (got !== 'cut off' && got.status !== 200) {
          assert.equal(got.status, 500);
          assert.match(got.text, /ERR_REDLINE_DEFER_TOO_LATE/);
          assert.deepEqual(app.sink.data, []);
        } else if (got !== 'cut off') {
          assert.deepEqual(got, allWell);
          await until('the job', () => app.sink.data.includes('wrapper'));
        }
      });

      test(`an older wrapper of ${what} is called when the response is let go`, async (t) => {
        const app = await start(t, framework, {
          before: (response) => change(response, () => {}),
          handler(response) {
            defer(job, 'handler', { level: 'process' });
            handler(response);
            // Its bytes may be on their way through the wrapper.
            defer(job, 'behind', { level: 'process', when: 'success' });
          },
        });
        assert.deepEqual(await get(app.url), allWell);
        await until('both', () => app.sink.data.length === 2);
      });
    }

    test('a job deferred behind the end goes when the response has gone, however late older wrappers send it', async (t) => {
      const before: Handler = (response) =>
        shapes['end(), which is called later']!.change(response, () => {});
      const app = await start(t, framework, {
        before,
        handler(response) {
          inOne(response);
          defer(job, 'behind', { level: 'process' });
        },
      });
      assert.deepEqual(await get(app.url), allWell);
      await until('the job', () => app.sink.data.includes('behind'));
    });

    test('callbacks of write() and end() are called, with an error where the response is refused', async (t) => {
      const called: unknown[] = [];
      const app = await start(t, framework, {
        handler(response) {
          defer(job, 'handler', { level: 'process' });
          response.write('it is ', (error) => void called.push(error?.name));
          response.end('all well', () => void called.push('end'));
        },
      });
      assert.deepEqual(await get(app.url), allWell);
      await until('both', () => called.length === 2);
      assert.deepEqual(called.splice(0), [undefined, 'end']);
      app.isFull = true;
      assert.equal(((await get(app.url)) as Got).status, 503);
      await until('both', () => called.length === 2);
      assert.deepEqual(called, ['DeferError', 'end']);
    });

    test('what Node refuses to write is refused at the call, while the response is held', async (t) => {
      const calls: ((response: ServerResponse) => unknown)[] = [
        (response) => response.writeHead(9999),
        (response) => response.writeHead(200, { 'a b': '1' }),
        (response) => response.write(1 as never),
        (response) => response.end({} as never),
        (response) => {
          response.statusCode = 9999;
          try {
            response.end();
          } finally {
            response.statusCode = 200;
          }
        },
      ];
      const codes: (string | undefined)[] = [];
      const app = await start(t, framework, {
        handler(response) {
          defer(job, 'handler', { level: 'process' });
          for (const call of calls) {
            try {
              call(response);
            } catch (error) {
              codes.push((error as NodeJS.ErrnoException).code);
            }
          }
          inOne(response);
        },
      });
      assert.deepEqual(await get(app.url), allWell);
      assert.deepEqual(codes, [
        'ERR_HTTP_INVALID_STATUS_CODE',
        'ERR_INVALID_HTTP_TOKEN',
        'ERR_INVALID_ARG_TYPE',
        'ERR_INVALID_ARG_TYPE',
        'ERR_HTTP_INVALID_STATUS_CODE',
      ]);
    });

    test('a stream that has nothing to wait for after all does not stand still', async (t) => {
      const app = await start(t, framework, {
        handler(response) {
          defer(job, 'success', { level: 'process', when: 'success' });
          response.statusCode = 404;
          Readable.from(['it is ', 'all ', 'well']).pipe(response);
        },
      });
      assert.deepEqual(await get(app.url), { status: 404, text: 'it is all well' });
    });

    test('a response has the length that its end() gives it, with wrappers of writeHead() as without', async (t) => {
      for (const after of [
        undefined,
        (response: ServerResponse) => onHeaders(response, () => {}),
      ]) {
        const app = await start(t, framework, {
          ...(after !== undefined && { after }),
          handler(response) {
            defer(job, 'handler', { level: 'process' });
            inOne(response);
          },
        });
        const response = await fetch(app.url);
        assert.equal(response.headers.get('content-length'), '14');
        await response.text();
      }
    });

    test('wrappers of writeHead() see the header once, as the handler left it', async (t) => {
      for (const when of ['always', 'aborted'] as When[]) {
        const seen: unknown[] = [];
        const app = await start(t, framework, {
          after(response) {
            const { writeHead } = response;
            response.writeHead = function (this: ServerResponse, ...args: unknown[]) {
              seen.push(args, response.getHeader('x-own'));
              return Reflect.apply(writeHead, this, [201, { 'x-two': '2' }]) as ServerResponse;
            } as never;
          },
          handler(response) {
            response.setHeader('x-own', '1');
            defer(job, 'handler', { level: 'process', when });
            inPieces(response);
          },
        });
        const response = await fetch(app.url);
        assert.equal(await response.text(), 'it is all well');
        assert.deepEqual(seen, [[200], '1']);
        const { headers } = response;
        assert.deepEqual(
          [response.status, headers.get('x-own'), headers.get('x-two')],
          [201, '1', '2'],
        );
      }
    });
  });
}

test('two deferrers of one app hold a response until the jobs of both are safe', async (t) => {
  const syncs: (() => void)[] = [];
  const fs: JournalFs = {
    ...nodeFs,
    fdatasync: (fd, done) => void syncs.push(() => nodeFs.fdatasync(fd, done)),
  };
  const sinks = [new TestSink(), new TestSink()];
  const deferrers = sinks.map((sink) =>
    createDefer<string>({
      sinks: { test: sink },
      journal: { directory: temporaryFolder(t), fs },
      handleSignals: false,
      logger: false,
    }),
  );
  const app = express();
  for (const deferrer of deferrers) {
    app.use(expressDefer(deferrer));
    app.use((_request, _response, next) => {
      defer(job, 'early', { level: 'disk' });
      next();
    });
  }
  app.get('/', (_request, response) => void response.json({}));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    server.close().closeAllConnections();
    await Promise.all(deferrers.map((deferrer) => deferrer.close()));
  });
  let isOver = false;
  const got = get(`http://127.0.0.1:${(server.address() as AddressInfo).port}`).finally(() => {
    isOver = true;
  });
  for (let synced = 0; synced < 2;) {
    await until('a sync', () => syncs.length > 0);
    assert.equal(isOver, false);
    fs.fdatasync = nodeFs.fdatasync;
    for (const sync of syncs.splice(0)) {
      sync();
      synced++;
    }
  }
  assert.deepEqual(await got, { status: 200, text: '{}' });
  await until('both jobs', () => sinks.every(({ data }) => data.length === 1));
});

test("with inject() of Fastify, too, a job deferred in a wrapper of the response's end is waited for", async (t) => {
  const sink = new TestSink();
  const deferrer = createDefer<string>({
    sinks: { test: { sink, batch: { waitMs: 0 } } },
    journal: { directory: temporaryFolder(t) },
    handleSignals: false,
  });
  t.after(() => deferrer.close());
  const app = fastify();
  attachToFastify(app, deferrer);
  app.addHook('onRequest', (_request, reply, next) => {
    wrapping('end')(reply.raw, () => void defer(job, 'wrapper', { level: 'disk' }));
    next();
  });
  app.get('/', async () => ({ ok: true }));
  const { statusCode, body } = await app.inject('/');
  assert.deepEqual([statusCode, body], [200, '{"ok":true}']);
  await until('the job', () => sink.data.length === 1);
});
