import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import http2 from 'node:http2';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { createSecureContext, TLSSocket } from 'node:tls';
import { createServer, engine } from '../src/index.ts';

const skip = engine().name === 'node';

/** What a use of the socket of a request says, while it is under way. */
async function using(use: (socket: Socket) => unknown): Promise<unknown> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  const [request] = (await once(server, 'request')) as [IncomingMessage];
  try {
    return await use(request.socket);
  } finally {
    client.destroy();
    server.close();
    server.closeAllConnections();
  }
}

describe('the socket of a request, given to what reads natively:', { skip }, () => {
  const context = createSecureContext();
  const uses: Record<string, (socket: Socket) => unknown> = {
    'new TLSSocket': (socket) => new TLSSocket(socket, { isServer: true, secureContext: context }),
    'http2.connect': (socket) =>
      http2.connect('http://127.0.0.1', { createConnection: () => socket }),
  };
  for (const [name, use] of Object.entries(uses)) {
    test(`${name} throws`, async () => {
      await using((socket) =>
        assert.throws(() => use(socket), { code: 'ERR_REDLINE_HTTP_SOCKET', message: /upgrade/ }),
      );
    });
  }

  test('child.send with keepOpen fails with EBADF', async () => {
    const child = fork(new URL('conformance/answering-child.mjs', import.meta.url), {
      execArgv: [],
    });
    await once(child, 'message');
    const error = await using(
      (socket) =>
        new Promise((resolve) => {
          child.send({}, socket, { keepOpen: true }, resolve);
        }),
    );
    child.kill('SIGKILL');
    assert.equal((error as NodeJS.ErrnoException).code, 'EBADF');
  });
});
