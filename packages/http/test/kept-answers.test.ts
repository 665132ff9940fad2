import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { createServer, engine, forgetAnswer, keepAnswer } from '../src/index.ts';
import http from 'node:http';

const skip = engine().name === 'native' ? false : 'the addon is not built';

for (const threaded of [false, true]) {
  describe(`keepAnswer, threaded: ${threaded}:`, { skip, timeout: 30_000 }, () => {
    test('the engine answers by itself until it is told to forget', async () => {
      let requests = 0;
      const server = createServer({ threaded }, (_, response) => {
        requests += 1;
        response.end('from the application');
      });
      const url = await listen(server);
      const headers = { 'Content-Type': 'text/plain', 'X-A': ['1', '2'] };
      assert.ok(keepAnswer(server, '/health', { body: 'ok', headers, ttlMs: 60_000 }));
      const kept = await fetch(`${url}/health`);
      assert.deepEqual(
        [kept.status, await kept.text(), kept.headers.get('content-type'), kept.headers.get('x-a')],
        [200, 'ok', 'text/plain', '1, 2'],
      );
      assert.equal(requests, 0);
      assert.equal(await (await fetch(`${url}/health?full`)).text(), 'from the application');
      forgetAnswer(server, '/health');
      assert.equal(await (await fetch(`${url}/health`)).text(), 'from the application');
      await close(server);
    });
  });
}

describe('how long an answer is kept:', { skip, timeout: 30_000 }, () => {
  const answer = async (url: string) => (await fetch(url)).text();

  test('a part of a millisecond is not for ever', async () => {
    const server = createServer((_, response) => void response.end('from the application'));
    const url = await listen(server);
    assert.ok(keepAnswer(server, '/', { body: 'kept', ttlMs: 0.5 }));
    while ((await answer(url)) === 'kept');
    await close(server);
  });

  test('a time longer than any counter is not a short one', async () => {
    const server = createServer((_, response) => void response.end('from the application'));
    const url = await listen(server);
    assert.ok(keepAnswer(server, '/', { body: 'kept', ttlMs: 2 ** 32 + 1 }));
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(await answer(url), 'kept');
    await close(server);
  });

  test('a server that has closed keeps nothing', async () => {
    const server = createServer();
    await listen(server);
    await close(server);
    assert.equal(keepAnswer(server, '/', { body: '', ttlMs: 1 }), false);
  });
});

describe('keepAnswer:', () => {
  test('a server of Node keeps nothing', () => {
    assert.equal(keepAnswer(http.createServer(), '/', { body: '', ttlMs: 1 }), false);
  });

  test('what cannot be sent is refused', () => {
    const server = createServer();
    const keep = (answer: object) => () =>
      keepAnswer(server, '/', { body: '', ttlMs: 1, ...answer });
    assert.throws(keep({ status: 204 }), RangeError);
    assert.throws(keep({ ttlMs: 0 }), RangeError);
    assert.throws(keep({ headers: { Date: 'now' } }), TypeError);
    assert.throws(keep({ headers: { 'X-A': 'a\r\nb' } }), { code: 'ERR_INVALID_CHAR' });
    assert.throws(keep({ headers: { 'X A': 'a' } }), { code: 'ERR_INVALID_HTTP_TOKEN' });
  });
});

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
