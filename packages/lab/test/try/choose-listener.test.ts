import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { askListeners, chooseListener, listenerText } from '../../src/try/choose-listener.ts';
import type { Listening } from '../../src/try/preload/protocol.ts';

function listening(asked: number | string, more: Partial<Listening> = {}): Listening {
  const port = typeof asked === 'number' ? asked + 20_000 : 20_000;
  return { type: 'listening', asked, port, kind: 'http', node: 'v26', routes: [], ...more };
}

const chosen = (listeners: Listening[], wanted?: number, own = 1): number | string | undefined =>
  chooseListener(listeners, { wanted, own }).main?.asked;

describe('of several listeners', () => {
  const api = listening(4400, { routes: ['/', '/items'] });

  test('the one that is named is asked, then that of PORT', () => {
    assert.equal(chosen([api, listening(4500)], 4500), 4500);
    assert.equal(chosen([api, listening(4500)], undefined, 24_500), 4500);
  });

  test('the one with the most routes is asked, and never a redirector that has none', () => {
    assert.equal(chosen([listening(3080), api]), 4400);
  });

  test('what serves metrics and health checks is asked last, also if it listens first and at PORT', () => {
    const metrics = listening(9464);
    const health = listening(8081, { routes: ['/healthz', '/metrics'] });
    assert.equal(chosen([metrics, listening(4400)]), 4400);
    assert.equal(chosen([health, listening(4400)], undefined, 28_081), 4400);
    assert.equal(chosen([health]), 8081);
  });

  test('of TLS and other protocols one is named only where none speaks HTTP', () => {
    const [tls, other] = [listening(3443, { kind: 'tls' }), listening(25, { kind: 'other' })];
    assert.equal(chosen([other, tls, listening(3000)]), 3000);
    assert.equal(chosen([other, tls]), 3443);
    assert.equal(chosen([other]), undefined);
  });

  test('a request decides between those that say nothing of themselves', async (t) => {
    const { main, undecided } = chooseListener([listening(4400), listening(4500)], {
      wanted: undefined,
      own: 1,
    });
    assert.equal(undecided.length, 2);
    assert.ok(undecided.includes(main!));
    const redirector = await serve(t, (_, response) => {
      response.writeHead(301, { location: 'https://localhost/' }).end();
    });
    const metrics = await serve(t, (_, response) => response.end('# HELP up\nup 1\n'));
    const app = await serve(t, (_, response) => response.end('{"a":1}'));
    const asked = await askListeners([redirector, metrics, app], async ({ port }) => ({
      host: '127.0.0.1',
      port,
    }));
    assert.equal(asked, app);
  });

  test('each is named with what serves it', () => {
    assert.equal(
      listenerText({ ...api, framework: 'Express' }),
      'port 4400, in this run at 24400 (HTTP, Express, 2 GET routes)',
    );
    assert.equal(listenerText(listening(0)), 'port 20000 (HTTP)');
    assert.match(
      listenerText(listening('/tmp/a.sock')),
      /^the Unix socket \/tmp\/a\.sock, in this/,
    );
  });
});

async function serve(context: TestContext, listener: RequestListener): Promise<Listening> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  return listening(0, { port: (server.address() as AddressInfo).port });
}
