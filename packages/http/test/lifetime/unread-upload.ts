// Reads nothing of an upload, and closes the server on a signal.
import type { AddressInfo } from 'node:net';
import { createServer } from '../../src/index.ts';

const server = createServer((request) => {
  const look = setInterval(() => {
    if (request.readableLength < request.readableHighWaterMark) return;
    clearInterval(look);
    process.stdout.write('full\n');
  }, 5);
});
server.requestTimeout = 0;
process.on('SIGUSR2', () => server.close());
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
