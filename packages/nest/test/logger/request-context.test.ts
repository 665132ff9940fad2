import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { LoggerError } from '@redline/nest';

import { Deep } from './fixture-app.js';
import { onEachPlatform, start } from './harness.js';

const post = (url: string, body: unknown): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

onEachPlatform('the context of a request', (on) => {
  it('survives await and timers, for many requests at once', async () => {
    await using server = await start({}, { ...on, nestLogger: true });
    const labels = Array.from({ length: 20 }, (_, count) => `label-${count}`);
    await Promise.all(labels.map((label) => fetch(`${server.url}/deep/${label}`)));
    await server.lines.settled(20);
    assertSeparate(server.lines.all, labels);
  });

  it('survives the reading of a body, on one connection and on many', async () => {
    await using server = await start({}, { ...on, nestLogger: true });
    const labels = Array.from({ length: 20 }, (_, count) => `label-${count}`);
    await Promise.all(labels.map((label) => post(`${server.url}/deep`, { label })));
    await server.lines.settled(20);
    assertSeparate(server.lines.all, labels);
  });

  it('survives a body that comes later than its headers', async () => {
    await using server = await start({}, on);
    const body = JSON.stringify({ label: 'late' });
    const socket = connect(server.port, '127.0.0.1');
    socket.write(
      `POST /deep HTTP/1.1\r\nHost: x\r\nX-Request-Id: late-1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    for (const part of [body.slice(0, 5), body.slice(5)]) {
      // Each part is to be a read of its own.
      await sleep(20);
      socket.write(part);
    }
    await server.lines.settled(1);
    socket.destroy();
    assert.equal(server.lines.all.length, 4);
    assert.ok(server.lines.all.every((line) => line.reqId === 'late-1'));
  });

  it("reaches Nest's middleware", async () => {
    let seen: string | undefined;
    await using server = await start(
      {},
      {
        prepare: (app) =>
          void app.use((_request: unknown, _response: unknown, next: () => void) => {
            seen = app.get(Deep).logger.logger.bindings()['reqId'] as string;
            next();
          }),
      },
    );
    await fetch(`${server.url}/hello`);
    const [line] = await server.lines.settled(1);
    assert.equal(seen, line?.reqId);
  });

  it('takes fields that every later line carries, the response line last of all', async () => {
    await using server = await start({}, on);
    await post(`${server.url}/assign`, { userId: 7, step: 1 });
    const [response] = await server.lines.settled(1);
    const assigned = server.lines.all.find((line) => line.msg === 'assigned');
    assert.deepEqual([assigned?.['userId'], assigned?.['step']], [7, 2]);
    assert.deepEqual(
      [response?.['userId'], response?.['step'], response?.['statusCode']],
      [7, 2, 201],
    );
    assert.equal(server.lines.raw.at(-1)?.match(/"step"/g)?.length, 1);
  });

  it('cannot be given fields outside a request', async () => {
    await using server = await start({}, on);
    const { logger } = server.app.get(Deep);
    assert.throws(
      () => logger.assign({ job: 1 }),
      (error) => error instanceof LoggerError && error.code === 'ERR_REDLINE_LOGGER_NO_REQUEST',
    );
    logger.info('still works');
    assert.equal(server.lines.all[0]?.reqId, undefined);
  });

  it('is left out with context: false, where request.log still knows the request', async () => {
    await using server = await start({ context: false }, on);
    await fetch(`${server.url}/deep/x`);
    await fetch(`${server.url}/own-log`);
    await server.lines.settled(2);
    const deep = server.lines.all.filter((line) => line['context'] === 'Deep');
    assert.ok(deep.length === 3 && deep.every((line) => line.reqId === undefined));
    const own = server.lines.all.filter((line) => line.msg?.startsWith('through'));
    assert.ok(own.length === 3 && own.every((line) => typeof line.reqId === 'string'));
  });

  it('does not mix two apps of one process', async () => {
    await using one = await start({}, on);
    await using two = await start({}, on);
    await Promise.all([
      fetch(`${one.url}/deep/one`),
      fetch(`${two.url}/deep/two`),
      fetch(`${one.url}/throw`),
    ]);
    await one.lines.settled(2);
    await two.lines.settled(1);
    assert.ok(two.lines.all.every((line) => !JSON.stringify(line).includes('one')));
    assert.equal(two.lines.all.length, 4);
    assert.equal(one.lines.all.length, 5);
  });
});

describe('the context of a request, on Fastify alone', () => {
  it('is on the lines of custom levels', async () => {
    interface Audited {
      log: { audit(message: string): void };
    }
    await using server = await start(
      { pino: { customLevels: { audit: 35 } } },
      {
        prepare: (app) =>
          void app
            .getHttpAdapter()
            .getInstance()
            .addHook('onSend', async (request: unknown) => (request as Audited).log.audit('kept')),
      },
    );
    const response = await fetch(`${server.url}/deep/a`);
    assert.equal(response.status, 200);
    await server.lines.settled(1);
    const kept = server.lines.all.find((line) => line.msg === 'kept');
    assert.equal(kept?.level, 35);
    assert.equal(typeof kept?.reqId, 'string');
  });

  it('survives a hook that goes on from elsewhere, as a pool or a queue does', async () => {
    const queue: (() => void)[] = [];
    const timer = setInterval(() => queue.pop()?.(), 2);
    await using server = await start(
      {},
      {
        prepare: (app) =>
          void app
            .getHttpAdapter()
            .getInstance()
            .addHook('preParsing', (_request, _reply, _payload, done) => void queue.push(done)),
      },
    );
    await fetch(`${server.url}/deep/x`);
    clearInterval(timer);
    const [response] = await server.lines.settled(1);
    assert.equal(server.lines.all.length, 4);
    assert.ok(server.lines.all.every((line) => line.reqId === response?.reqId));
  });

  it("is entered before validation if another library has taken the adapter's request hook", async () => {
    await using server = await start(
      {},
      {
        prepare: (app) =>
          (
            app.getHttpAdapter() as unknown as { setOnRequestHook(hook: unknown): void }
          ).setOnRequestHook((_request: unknown, _reply: unknown, done: () => void) => done()),
      },
    );
    await fetch(`${server.url}/deep/x`);
    const [response] = await server.lines.settled(1);
    assert.equal(server.lines.all.length, 4);
    assert.ok(server.lines.all.every((line) => line.reqId === response?.reqId));
  });

  it('carry what Fastify has to say, such as that a reply was sent twice', async () => {
    await using server = await start();
    await fetch(`${server.url}/twice`);
    await server.lines.settled(1);
    const warning = server.lines.all.find((line) => line.level === 40);
    assert.match(warning?.err?.message ?? '', /already sent/);
    assert.equal(server.lines.responses.length, 1);
  });
});

onEachPlatform('request.log and reply.log', (on) => {
  it("are the request's logger", async () => {
    await using server = await start({}, on);
    const { id } = (await (await fetch(`${server.url}/own-log`)).json()) as { id: string };
    await server.lines.settled(1);
    assert.deepEqual(
      server.lines.all.map((line) => [line.level, line.msg, line.reqId]),
      [
        [30, 'through request.log', id],
        [40, 'through reply.log', id],
        [30, 'through a child', id],
        [30, 'request completed', id],
      ],
    );
  });
});

function assertSeparate(lines: Record<string, unknown>[], labels: string[]): void {
  const ids = new Set<unknown>();
  for (const label of labels) {
    const own = lines.filter(
      (line) => line['label'] === label || line['msg'] === `native ${label}`,
    );
    assert.equal(own.length, 4, label);
    assert.equal(new Set(own.map((line) => line['reqId'])).size, 1, label);
    ids.add(own[0]?.['reqId']);
  }
  assert.equal(ids.size, labels.length);
  assert.ok(!ids.has(undefined));
  const responses = lines.filter((line) => 'responseTime' in line);
  assert.deepEqual(new Set(responses.map((line) => line['reqId'])), ids);
}
