// The request that a job belongs to: by its context, by its name, or none that is known.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import express from 'express';
import fastify from 'fastify';
import { expressDefer } from '../src/adapters/express.ts';
import { fastifyDefer } from '../src/adapters/fastify.ts';
import { prometheusMetrics } from '../src/adapters/prometheus.ts';
import { createDefer } from '../src/create-defer.ts';
import { defer } from '../src/defer.ts';
import type { Deferrer } from '../src/deferrer.ts';
import { defineJob } from '../src/job/job.ts';
import { nodeFs, type JournalFs } from '../src/journal/journal-fs.ts';
import { handlers } from '../src/sinks/handlers.ts';
import { until } from '@redline/services/until';
import { listening, temporaryFolder, TestLogger, TestSink, turns } from './harness.ts';

const job = defineJob<string>('job');
type Handle = (request: IncomingMessage, response: ServerResponse) => void;

interface Trial {
  readonly deferrer: Deferrer;
  readonly sink: TestSink;
  readonly logger: TestLogger;
  readonly url: string;
  fill(): void;
}

async function trial(t: TestContext, handle: Handle): Promise<Trial> {
  let isFull = false;
  const fs: JournalFs = {
    ...nodeFs,
    writeSync(...args) {
      if (isFull) throw Object.assign(new Error('ENOSPC: no space'), { code: 'ENOSPC' });
      return nodeFs.writeSync(...args);
    },
  };
  const sink = new TestSink();
  const logger = new TestLogger();
  const deferrer = createDefer({
    sinks: { test: sink },
    journal: { directory: temporaryFolder(t), fs },
    logger,
    handleSignals: false,
    drainMs: 0,
  });
  t.after(() => deferrer.close());
  await deferrer.ready();
  const enter = expressDefer(deferrer);
  const url = await listening(t, (request, response) =>
    enter(request, response, () => handle(request, response)),
  );
  return { deferrer, sink, logger, url, fill: () => void (isFull = true) };
}

/** An emitter outside of every request, as a driver's shared connection is. */
function outside(): EventEmitter {
  const emitter = new EventEmitter();
  const timer = setInterval(() => emitter.emit('tick'), 1);
  timer.unref();
  return emitter;
}

const driver = outside();

test('outside of every request while one is open: the response waits, and it is said once', async (t) => {
  const { deferrer, logger, url, fill, sink } = await trial(t, (_request, response) => {
    driver.once('tick', () => {
      defer(job, 'a', { level: 'process' });
      response.end('{}');
    });
  });
  assert.equal((await fetch(url)).status, 200);
  assert.equal((await fetch(url)).status, 200);
  await until('the jobs', () => sink.data.length === 2);
  const warnings = logger.lines.filter((line) => line.includes('{ request }'));
  assert.equal(warnings.length, 1);
  assert.match(
    warnings[0]!,
    /job \(job\) was deferred outside of every request while requests are open/,
  );
  assert.equal(deferrer.stats().unattributed, 2);
  assert.match(prometheusMetrics(deferrer), /^redline_defer_unattributed_total 2$/m);
  fill();
  assert.equal((await fetch(url)).status, 503);
});

test('every open response waits for a job whose request is unknown', async (t) => {
  const opened: ServerResponse[] = [];
  const { fill, url } = await trial(t, (_request, response) => void opened.push(response));
  const both = [fetch(url), fetch(url)];
  await until('both', () => opened.length === 2);
  fill();
  driver.once('tick', () => {
    defer(job, 'a', { level: 'process' });
    for (const response of opened) response.end('{}');
  });
  assert.deepEqual(
    (await Promise.all(both)).map(({ status }) => status),
    [503, 503],
  );
  // One that comes later has nothing to do with it.
  const later = fetch(url);
  await until('the third', () => opened.length === 3);
  opened[2]!.end('{}');
  assert.equal((await later).status, 200);
});

test('a request that is named decides, in whichever context the call is made', async (t) => {
  const { deferrer, fill, logger, sink, url } = await trial(t, (request, response) => {
    const status = Number(request.url!.slice(1));
    driver.once('tick', () => {
      defer(job, String(status), { level: 'process', when: 'success', request });
      response.statusCode = status;
      response.end('{}');
    });
  });
  const statuses = await Promise.all(
    [200, 500, 200].map(async (each) => (await fetch(`${url}/${each}`)).status),
  );
  assert.deepEqual(statuses, [200, 500, 200]);
  await until('the jobs', () => sink.data.length === 2);
  assert.deepEqual(sink.data, ['200', '200']);
  await until('the withdrawn one', () => deferrer.stats().withdrawn === 1);
  assert.equal(deferrer.stats().unattributed, 0);
  assert.deepEqual(logger.lines, []);
  fill();
  assert.equal((await fetch(`${url}/200`)).status, 503);
});

test('a job of no request holds up none', async (t) => {
  const { deferrer, fill, logger, url } = await trial(t, (_request, response) => {
    driver.once('tick', () => {
      deferrer
        .defer(job, 'a', { level: 'process', request: null })
        .acknowledged()
        .catch(() => {});
      response.end('{}');
    });
  });
  fill();
  assert.equal((await fetch(url)).status, 200);
  assert.equal(deferrer.stats().unattributed, 0);
  assert.ok(!logger.lines.some((line) => line.includes('{ request }')));
});

test('the request of Fastify, Express and Koa is known by what they make of it', async (t) => {
  const sink = new TestSink();
  const make = (): Deferrer =>
    createDefer({ sinks: { test: sink }, logger: false, handleSignals: false });
  const one = make();
  const app = fastify();
  await app.register(fastifyDefer, { deferrer: one });
  app.get('/:of', (request, reply) => {
    driver.once('tick', () => {
      const { of } = request.params as { of: string };
      one.defer(job, of, { request: of === 'request' ? request : reply, when: 'success' });
      one.after(() => {}, { request });
      void reply.code(500).send({});
    });
  });
  await app.inject('/request');
  await app.inject('/reply');
  await until('the withdrawn', () => one.stats().withdrawn === 2);
  await app.close();

  const two = make();
  t.after(() => two.close());
  const server = express().use(expressDefer(two));
  server.get('/:of', (request, response) => {
    driver.once('tick', () => {
      const named = { request, response, context: { req: request } }[request.params.of!]!;
      two.defer(job, 'express', { request: named, when: 'success' });
      response.status(500).json({});
    });
  });
  const url = await listening(t, server);
  for (const each of ['request', 'response', 'context']) await fetch(`${url}/${each}`);
  await until('the withdrawn', () => two.stats().withdrawn === 3);
  assert.deepEqual(sink.data, []);
});

test('what is no request is refused', async (t) => {
  const { deferrer } = await trial(t, () => {});
  for (const request of [{}, 'a']) {
    assert.throws(() => deferrer.defer(job, 'a', { request: request as object }), {
      code: 'ERR_REDLINE_DEFER_OPTION',
    });
  }
});

test('a job for an abort, of an unknown request, runs if one is aborted, and only then', async (t) => {
  const opened: ServerResponse[] = [];
  const { deferrer, sink, url } = await trial(
    t,
    (_request, response) => void opened.push(response),
  );
  const good = fetch(url);
  const goes = ask(url).end();
  goes.on('error', () => {});
  await until('both', () => opened.length === 2);
  await new Promise<void>((resolve) => {
    driver.once('tick', () => {
      defer(job, 'undo', { level: 'process', when: 'aborted' });
      resolve();
    });
  });
  await turns();
  assert.deepEqual(sink.data, []);
  goes.destroy();
  await until('the undo', () => sink.data.length === 1);
  for (const response of opened) response.end('{}');
  await (await good).text();

  const third = fetch(url);
  await until('the third', () => opened.length === 3);
  driver.once('tick', () => {
    defer(job, 'undo', { level: 'process', when: 'aborted' });
    opened[2]!.end('{}');
  });
  await (await third).text();
  await until('the withdrawal', () => deferrer.stats().withdrawn === 1);
  assert.equal(sink.data.length, 1);
});

test('a job that a handler defers is its own, whatever became of the request it ran for', async (t) => {
  const ran: string[] = [];
  const logger = new TestLogger();
  const deferrer = createDefer({
    sinks: {
      work: handlers({
        first: async () => {
          await sleep(1);
          deferrer.defer(next, 'next');
        },
        next: (data: string) => void ran.push(data),
      }),
    },
    journal: { directory: temporaryFolder(t) },
    logger,
    handleSignals: false,
  });
  t.after(() => deferrer.close());
  const first = defineJob<string>('first');
  const next = defineJob<string>('next', { level: 'disk', when: 'success' });
  const enter = expressDefer(deferrer);
  const url = await listening(t, (request, response) =>
    enter(request, response, () => {
      if (request.url === '/open') return;
      deferrer.defer(first, 'first');
      response.statusCode = 500;
      response.end('{}');
    }),
  );
  const open = ask(`${url}/open`).end();
  open.on('error', () => {});
  assert.equal((await fetch(url)).status, 500);
  await until('the next', () => ran.length === 1);
  assert.equal(deferrer.stats().unattributed, 0);
  open.destroy();
});

test("the request's own events run in its scope: an abort undoes what it should", async (t) => {
  const arrived = Promise.withResolvers<void>();
  const { sink, url } = await trial(t, (request, response) => {
    response.on('close', () => defer(job, `close ${request.url}`, { when: 'aborted' }));
    request.on('end', () => {
      defer(job, `end ${request.url}`, { when: 'success' });
      if (request.url === '/gone') arrived.resolve();
    });
    request.resume();
    if (request.url === '/good') response.end('{}');
    if (request.url === '/bad') response.writeHead(500).end('{}');
  });
  await fetch(`${url}/good`);
  await fetch(`${url}/bad`);
  const gone = ask(`${url}/gone`).end();
  gone.on('error', () => {});
  await arrived.promise;
  gone.destroy();
  await until('the jobs', () => sink.data.length === 2);
  assert.deepEqual(sink.data, ['end /good', 'close /gone']);
});

test('a response that its client has as a whole cannot wait for a job', async (t) => {
  const codes: unknown[] = [];
  const { sink, url } = await trial(t, (request, response) => {
    switch (request.url) {
      case '/length':
        response.setHeader('content-length', 2).write('ok');
        break;
      case '/head':
        response.writeHead(200, { 'Content-Length': '2' }).write('ok');
        break;
      case '/204':
        response.writeHead(204).flushHeaders();
        break;
      case '/304':
        response.statusCode = 304;
        response.flushHeaders();
        break;
      default:
        response.write('ok');
    }
    try {
      defer(job, request.url!, { level: 'process' });
      codes.push(undefined);
    } catch (error) {
      codes.push((error as { code?: unknown }).code);
    }
    response.end();
  });
  const late = 'ERR_REDLINE_DEFER_TOO_LATE';
  for (const path of ['/length', '/head', '/204', '/304', '/chunked']) await fetch(url + path);
  await fetch(`${url}/chunked`, { method: 'HEAD' });
  assert.deepEqual(codes, [late, late, late, late, undefined, late]);
  await until('the one', () => sink.data.length === 1);
  assert.deepEqual(sink.data, ['/chunked']);
});
