import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { FastifyAdapter } from '@nestjs/platform-fastify';

import { sendRaw, start } from './harness.js';

const idOf = async (url: string, headers: Record<string, string> = {}): Promise<string> =>
  ((await (await fetch(`${url}/own-log`, { headers })).json()) as { id: string }).id;

describe('request ids', () => {
  it("come from the header, and Fastify's request.id is the same", async () => {
    await using server = await start();
    assert.equal(await idOf(server.url, { 'X-Request-Id': 'abc-123' }), 'abc-123');
    const [line] = await server.lines.settled(1);
    assert.equal(line?.reqId, 'abc-123');
  });

  it('from outside are replaced if they are long, strange or sent twice', async () => {
    await using server = await start();
    for (const bad of ['a'.repeat(129), 'a"b', 'a b', 'a,b', 'é', 'a\tb', '<script>']) {
      assert.notEqual(await idOf(server.url, { 'x-request-id': bad }), bad);
    }
    assert.equal(await idOf(server.url, { 'x-request-id': 'a'.repeat(128) }), 'a'.repeat(128));
    const twice =
      'GET /own-log HTTP/1.1\r\nHost: x\r\nX-Request-Id: a\r\nX-Request-Id: b\r\nConnection: close\r\n\r\n';
    assert.match(await sendRaw(server.port, twice), /"id":"[\w-]{8}-000"|"id":"[\w-]{12,}"/);
  });

  it('are generated otherwise, unique within an app and between two', async () => {
    await using one = await start({ requests: 'off' });
    await using two = await start({ requests: 'off' });
    const ids = new Set<string>();
    for (let count = 0; count < 20; count += 1) {
      ids.add(await idOf(one.url));
      ids.add(await idOf(two.url));
    }
    assert.equal(ids.size, 40);
  });

  for (const thrown of [new Error('no entropy'), 'a text']) {
    it(`are an error response and a line where the generator throws ${typeof thrown}`, async () => {
      let isBroken = true;
      const generate = (): string => {
        if (isBroken) throw thrown;
        return 'made';
      };
      await using server = await start({ requestId: { generate } });
      assert.equal((await fetch(`${server.url}/own-log`)).status, 500);
      const lines = await server.lines.settled(1);
      assert.ok(lines.some(({ err }) => /no entropy|a text/.test(err?.message ?? '')));
      isBroken = false;
      assert.equal(await idOf(server.url), 'made');
    });
  }

  it('stay unique past a thousand', async () => {
    await using server = await start({ requests: 'off' });
    const ids = new Set<string>();
    for (let count = 0; count < 2100; count += 1) {
      const { payload } = await server.app.inject('/own-log');
      ids.add((JSON.parse(payload) as { id: string }).id);
    }
    assert.equal(ids.size, 2100);
  });

  it('come from another header, a generator, or no header, as asked', async () => {
    let count = 0;
    await using other = await start({ requestId: { header: 'X-Trace' } });
    await using made = await start({ requestId: { generate: () => `mine-${(count += 1)}` } });
    await using none = await start({ requestId: { header: false } });
    assert.equal(await idOf(other.url, { 'x-trace': 't1', 'x-request-id': 'r1' }), 't1');
    assert.equal(await idOf(made.url), 'mine-1');
    assert.notEqual(await idOf(none.url, { 'x-request-id': 'r1' }), 'r1');
  });

  it('from a generator are held to the same characters', async () => {
    await using server = await start({ requestId: { generate: () => 'a\r\nset-cookie: x' } });
    assert.match(await idOf(server.url), /^[\w-]+$/);
  });

  it('are echoed where it is asked for, 404s included', async () => {
    await using quiet = await start();
    await using same = await start({ requestId: { echo: true } });
    await using named = await start({ requestId: { echo: 'X-Correlation-Id' } });
    assert.equal((await fetch(`${quiet.url}/hello`)).headers.get('x-request-id'), null);
    const echoed = await fetch(`${same.url}/nope`, { headers: { 'x-request-id': 'r1' } });
    assert.equal(echoed.headers.get('x-request-id'), 'r1');
    const { headers } = await fetch(`${named.url}/hello`);
    const [line] = await named.lines.settled(1);
    assert.equal(headers.get('x-correlation-id'), line?.reqId);
  });

  it('are not left to a Fastify adapter that takes them unchecked', async () => {
    await assert.rejects(
      start({}, { adapter: new FastifyAdapter({ requestIdHeader: 'x-request-id' }) }),
      { code: 'ERR_REDLINE_LOGGER_REQUEST_ID' },
    );
  });
});
