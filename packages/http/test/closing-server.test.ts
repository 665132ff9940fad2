import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { test } from 'node:test';
import { createServer, engine } from '../src/index.ts';

const skip = engine().name === 'node';
const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

test('close() ends although a client never pauses', { skip, timeout: 600_000 }, async () => {
  const server = createServer({ keepAliveTimeout: 50 }, (_, response) => {
    setTimeout(() => response.end('answered'), 5);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let received = '';
  client.on('data', (chunk) => {
    received += chunk;
    if (!/close/.test(received)) client.write(get);
  });
  const over = once(client, 'close');
  client.write(get);
  await once(server, 'request');
  const closed = once(server, 'close');
  server.close();
  await closed;
  await over;
  // Not cut: the last of several responses says that it is the last.
  assert.ok(received.split('answered').length > 2, received);
  assert.match(received, /Connection: close\r\n(?:.+\r\n)*\r\nanswered$/);
});

// Node's `_connections--` reads and writes: what the engine's thread does in between is not for it to count.
test(
  'close() ends although a connection goes while an upgraded one does',
  {
    skip,
    timeout: 600_000,
  },
  async () => {
    const server = createServer({ threaded: true }, (_, response) => response.end('plain'));
    server.on('upgrade', (_, socket: Socket) => {
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: a\r\n\r\n');
      socket.resume();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const other = connect(port, '127.0.0.1');
    other.write(get);
    await once(other, 'data');
    const { prototype } = Object.getPrototypeOf(server).constructor;
    const { get: read, set: write } = Object.getOwnPropertyDescriptor(prototype, '_connections')!;
    const isGone = Promise.withResolvers<void>();
    Object.defineProperty(server, '_connections', {
      get: () => read!.call(server),
      set(value: number) {
        if (!other.destroyed) {
          const open = descriptors();
          other.destroy();
          const deadline = Date.now() + 30_000;
          // Its own descriptor and that of the engine's thread, which goes on while this one does not.
          while (descriptors() > open - 2) assert.ok(Date.now() < deadline);
          isGone.resolve();
        }
        write!.call(server, value);
      },
    });
    const upgraded = connect(port, '127.0.0.1');
    upgraded.resume().end('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: a\r\n\r\n');
    await isGone.promise;
    const closed = once(server, 'close');
    server.close();
    await closed;
    assert.equal(read!.call(server), 0);
  },
);

function descriptors(): number {
  return readdirSync('/proc/self/fd').length;
}
