import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
// As built: it starts a program beside it.
import { runOpenLoop, type OpenLoop } from '../../dist/load/open-loop.js';

const get = { method: 'GET', headers: {}, body: '', compare: 'body', timed: true } as const;
const signal = new AbortController().signal;

describe('the open loop', () => {
  test('sends a burst at once, on as many connections', async (t) => {
    const held: (() => void)[] = [];
    let peakHeld = 0;
    // Nothing is answered before all of the burst have come: a sender that spreads it would wait for ever.
    const load = await serve(t, (_, response) => {
      held.push(() => response.end());
      peakHeld = Math.max(peakHeld, held.length);
      if (held.length === 8) for (const respond of held.splice(0)) respond();
    });
    const outcome = await runOpenLoop(
      { ...load, connections: 8, requestsPerSecond: 80, burst: 8, durationMs: 350 },
      signal,
    );
    assert.equal(peakHeld, 8);
    // The quarter of a second before is not counted.
    assert.deepEqual([outcome.answered, outcome.failed], [28, 0]);
  });

  test('sends what is not timed, and counts the others alone', async (t) => {
    const asked = new Map<string, number>();
    const load = await serve(t, ({ url }, response) => {
      asked.set(url!, (asked.get(url!) ?? 0) + 1);
      response.statusCode = url === '/failing' ? 500 : 200;
      response.end();
    });
    const outcome = await runOpenLoop(
      {
        ...load,
        requests: [
          { ...get, path: '/' },
          { ...get, path: '/failing', timed: false },
        ],
      },
      signal,
    );
    assert.ok(asked.get('/failing')! >= asked.get('/')! - 1);
    assert.ok(outcome.answered > 0 && outcome.answered <= asked.get('/')!);
    assert.equal(outcome.failed, 0);
  });

  test('may be a single request', async (t) => {
    const load = await serve(t, (_, response) => response.end());
    const outcome = await runOpenLoop({ ...load, requestsPerSecond: 1 }, signal);
    assert.deepEqual([outcome.answered, outcome.failed], [1, 0]);
  });

  test('counts a timed request that fails', async (t) => {
    const load = await serve(t, (_, response) => response.writeHead(500).end());
    const { answered, failed } = await runOpenLoop(load, signal);
    assert.equal(answered, 0);
    assert.ok(failed > 0);
  });
});

async function serve(t: TestContext, listener: RequestListener): Promise<OpenLoop> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    requests: [{ ...get, path: '/' }],
    connections: 4,
    requestsPerSecond: 200,
    burst: 1,
    durationMs: 200,
    isExact: false,
  };
}
