import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
// As built: it starts a program beside it.
import { type ClosedLoop, ownGenerator } from '../../dist/load/closed-loop.js';

const get = { method: 'GET', headers: {}, body: '', compare: 'body', timed: true } as const;

describe('the closed loop without wrk', () => {
  test('sends all requests in turn, over as many connections', async (t) => {
    const sockets = new Set<unknown>();
    const received = new Map<string, number>();
    const load = await serve(t, ({ method, url, socket }, response) => {
      sockets.add(socket);
      const label = `${method} ${url}`;
      received.set(label, (received.get(label) ?? 0) + 1);
      response.statusCode = url === '/bad' ? 500 : 200;
      response.end('a body');
    });
    const outcome = await ownGenerator().run({
      ...load,
      requests: [
        { ...get, path: '/' },
        { ...get, method: 'HEAD', path: '/' },
        { ...get, path: '/bad' },
      ],
    });
    assert.deepEqual([...received.keys()].toSorted(), ['GET /', 'GET /bad', 'HEAD /']);
    const { requests, badStatus } = outcome;
    const all = [...received.values()].reduce((sum, each) => sum + each, 0);
    assert.ok(requests > 0 && requests <= all, `${requests} of ${all}`);
    // Every third request, apart from those in flight at the end.
    assert.ok(Math.abs(3 * badStatus - requests) <= 9, `${badStatus} of ${requests}`);
    assert.deepEqual([sockets.size, outcome.socketErrors], [3, 0]);
    assert.ok(outcome.busy! > 0);
  });

  test('calls back at the end', async (t) => {
    const load = await serve(t, (_, response) => response.end());
    let isCalled = false;
    await ownGenerator().run({
      ...load,
      beforeEnd: async () => {
        isCalled = true;
      },
    });
    assert.ok(isCalled);
  });
});

async function serve(t: TestContext, listener: RequestListener): Promise<ClosedLoop> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    requests: [{ ...get, path: '/' }],
    connections: 3,
    pipeline: 1,
    durationMs: 300,
    signal: new AbortController().signal,
  };
}
