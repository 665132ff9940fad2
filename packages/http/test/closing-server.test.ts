import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createServer, engine } from '../src/index.ts';

const skip = engine().name === 'node';
const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

test('close() ends although a client never pauses', { skip, timeout: 60_000 }, async () => {
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
