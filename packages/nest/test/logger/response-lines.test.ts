import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { connect, constants } from 'node:http2';
import { describe, it } from 'node:test';

import { FastifyAdapter } from '@nestjs/platform-fastify';

import { leave, onEachPlatform, sendRaw, start } from './harness.js';

const keepAliveGet = (agent: Agent, url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', reject);
  });

onEachPlatform('response lines', (on) => {
  it('are one per response, with the slim fields in their order', async () => {
    await using server = await start({}, on);
    await fetch(`${server.url}/hello?a=1`);
    const [line, ...more] = await server.lines.settled(1);
    assert.equal(more.length, 0);
    assert.equal(
      Object.keys(line ?? {}).join(' '),
      'level time pid hostname reqId method url statusCode responseTime msg',
    );
    assert.equal(line?.level, 30);
    assert.equal(line?.['method'], 'GET');
    assert.equal(line?.['url'], '/hello?a=1');
    assert.equal(line?.['statusCode'], 200);
    assert.equal(line?.msg, 'request completed');
    assert.ok((line?.['responseTime'] as number) > 0 && (line?.['responseTime'] as number) < 5000);
  });

  it('are one for each request of a kept-alive connection', async () => {
    await using server = await start({}, on);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let count = 0; count < 25; count += 1) {
      assert.equal(await keepAliveGet(agent, `${server.url}/items/${count}`), 200);
    }
    agent.destroy();
    const lines = await server.lines.settled(25);
    assert.deepEqual(
      lines.map((line) => line['url']),
      Array.from({ length: 25 }, (_, count) => `/items/${count}`),
    );
    assert.equal(new Set(lines.map((line) => line.reqId)).size, 25);
  });

  it('are one for each pipelined request', async () => {
    await using server = await start({}, on);
    const one = (path: string, last = false): string =>
      `GET ${path} HTTP/1.1\r\nHost: x\r\n${last ? 'Connection: close\r\n' : ''}\r\n`;
    const received = await sendRaw(server.port, one('/hello') + one('/nope') + one('/hello', true));
    assert.equal(received.match(/HTTP\/1\.1 /g)?.length, 3);
    const lines = await server.lines.settled(3);
    assert.deepEqual(lines.map((line) => line['statusCode']).sort(), [200, 200, 404]);
  });

  it('are one each for a 404, a rejected guard, a stream, a body and a HEAD', async () => {
    await using server = await start({}, on);
    await fetch(`${server.url}/nope`);
    await fetch(`${server.url}/guarded`);
    assert.equal(await (await fetch(`${server.url}/stream`)).text(), 'one two');
    await fetch(`${server.url}/deep`, json({ label: 'x' }));
    await fetch(`${server.url}/hello`, { method: 'HEAD' });
    await fetch(`${server.url}/deep`, { ...json({}), body: '{not json' });
    const lines = await server.lines.settled(6);
    assert.deepEqual(
      lines.map((line) => [line.level, line['statusCode']]),
      [
        [40, 404],
        [40, 403],
        [30, 200],
        [30, 201],
        [30, 200],
        [40, 400],
      ],
    );
  });

  it('carry the exception that Nest answered, on one line', async () => {
    await using server = await start({}, { ...on, nestLogger: true });
    assert.equal((await fetch(`${server.url}/throw`)).status, 500);
    assert.equal((await fetch(`${server.url}/gateway`)).status, 502);
    const [thrown, gateway] = await server.lines.settled(2);
    assert.equal(thrown?.level, 50);
    assert.equal(thrown?.msg, 'request errored');
    assert.equal(thrown?.err?.type, 'TypeError');
    assert.match(thrown?.err?.stack ?? '', /handler broke[^]*fixture-app/);
    assert.equal(gateway?.level, 50);
    assert.match(gateway?.err?.stack ?? '', /upstream broke/);
    const errors = server.lines.all.filter((line) => line.level >= 50);
    assert.equal(errors.length, 2, "Nest's ExceptionsHandler does not report it again");
  });

  it("carry no stack for an answer such as 404, but for a library's error that became one", async () => {
    await using server = await start({}, on);
    await fetch(`${server.url}/missing`);
    await fetch(`${server.url}/teapot`);
    const [missing, teapot] = await server.lines.settled(2);
    assert.deepEqual([missing?.level, missing?.['statusCode'], missing?.err], [40, 404, undefined]);
    assert.deepEqual([teapot?.level, teapot?.['statusCode']], [40, 418]);
    assert.match(teapot?.err?.stack ?? '', /short and stout/);
  });

  it('say that the client left, also after its body was read and while it was being answered', async () => {
    await using server = await start({}, on);
    await leave(server.port, '/hang');
    await leave(server.port, '/hang', { method: 'POST', body: '{"a":1}' });
    await leave(server.port, '/endless', { once: 'answered' });
    const lines = await server.lines.settled(3);
    assert.equal(lines.length, 3);
    for (const line of lines) {
      assert.deepEqual([line.level, line['aborted'], line.msg], [40, true, 'request aborted']);
    }
    assert.deepEqual(
      lines.map((line) => line['statusCode']),
      [null, null, 200],
    );
  });

  it('say why a response broke off half way', async () => {
    await using server = await start({}, on);
    await assert.rejects(async () => (await fetch(`${server.url}/broken-stream`)).text());
    const lines = await server.lines.settled(1);
    assert.equal(lines.length, 1);
    assert.deepEqual([lines[0]?.level, lines[0]?.['aborted']], [50, true]);
    assert.equal(lines[0]?.err?.message, 'source broke');
  });

  it('escape what a client put into the URL', async () => {
    await using server = await start({}, on);
    await sendRaw(
      server.port,
      'GET /hello?q="\\x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    );
    const [line] = await server.lines.settled(1);
    assert.equal(line?.['url'], '/hello?q="\\x');
  });
});

describe('response lines, on Fastify alone', () => {
  it('are written for HTTP/2 streams, reset ones included', async () => {
    const adapter = new FastifyAdapter({ http2: true } as object);
    await using server = await start({}, { adapter });
    const session = connect(server.url);
    for (const path of ['/hello', '/nope', '/hang']) {
      const stream = session.request({ ':path': path });
      stream.resume();
      // Nothing says that the handler has the request by now.
      if (path === '/hang') setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), 60);
      await once(stream, 'close');
    }
    session.close();
    const lines = await server.lines.settled(3);
    assert.deepEqual(
      lines.map((line) => [line['statusCode'], line['aborted']]),
      [
        [200, undefined],
        [404, undefined],
        [null, true],
      ],
    );
  });

  it('are written through app.inject() too', async () => {
    await using server = await start();
    const { statusCode } = await server.app.inject('/hello');
    assert.equal(statusCode, 200);
    assert.equal((await server.lines.settled(1)).length, 1);
  });
});

onEachPlatform('requests', (on) => {
  it('"errors" leaves out what went well', async () => {
    await using server = await start({ requests: 'errors' }, on);
    await Promise.all(
      ['/hello', '/stream', '/status/301', '/nope', '/throw'].map((path) =>
        fetch(server.url + path, { redirect: 'manual' }).then((response) => response.text()),
      ),
    );
    await leave(server.port, '/hang');
    const lines = await server.lines.settled(3);
    assert.deepEqual(lines.map((line) => line['statusCode']).sort(), [404, 500, null]);
  });

  it('"off" writes none', async () => {
    await using server = await start({ requests: 'off' }, on);
    await fetch(`${server.url}/throw`);
    await fetch(`${server.url}/deep/x`);
    assert.equal((await server.lines.settled(0)).length, 0);
    assert.ok(
      server.lines.all.every((line) => typeof line.reqId === 'string'),
      'loggers still work',
    );
  });

  it('{ sample } writes a share of the good ones and every error', async () => {
    await using none = await start({ requests: { sample: 0 } }, on);
    await using half = await start({ requests: { sample: 0.5 } }, on);
    for (let count = 0; count < 60; count += 1) {
      await fetch(`${none.url}/hello`);
      await fetch(`${half.url}/hello`);
      if (count < 5) await fetch(`${none.url}/nope`);
    }
    assert.equal((await none.lines.settled(5)).length, 5);
    const written = (await half.lines.settled(0)).length;
    assert.ok(written > 5 && written < 55, `${written} of 60`);
  });

  it('follow `ignore`, whatever the status', async () => {
    await using server = await start(
      {
        ignore: (request) => request.url === '/hello' || request.url === '/nope',
      },
      on,
    );
    for (const path of ['/hello', '/nope', '/items/1']) await fetch(server.url + path);
    const lines = await server.lines.settled(1);
    assert.deepEqual(
      lines.map((line) => line['url']),
      ['/items/1'],
    );
  });

  it('respect the level', async () => {
    await using server = await start({ level: 'warn' }, on);
    await fetch(`${server.url}/hello`);
    await fetch(`${server.url}/nope`);
    assert.deepEqual(
      (await server.lines.settled(1)).map((line) => line['statusCode']),
      [404],
    );
  });
});

function json(body: unknown): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
}
