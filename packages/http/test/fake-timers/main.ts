// Serves a few requests while every clock that a test runner can fake stands still.
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { createServer } from '../../src/index.ts';

const server = createServer((request, response) => {
  response.write('begun, ', () => response.end(`and ended at ${request.url}`));
  if (request.url === '/2') {
    server.keepAliveTimeout = 1000;
    response.on('close', () => request.socket.destroy());
  }
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');

// Node's own streams go on: what is faked is what this package calls.
const { nextTick } = process;
const isOurs = () => /\/packages\/http\/src\//.test(new Error().stack!.split('\n')[3] ?? '');
process.nextTick = (...args: Parameters<typeof nextTick>) => {
  if (!isOurs()) nextTick(...args);
};
const real = { ...globalThis, setImmediate, queueMicrotask, setTimeout, Date };
for (const name of ['setImmediate', 'queueMicrotask', 'setTimeout'] as const) {
  globalThis[name] = ((...args: never[]) =>
    isOurs() ? 7 : (real[name] as (...all: never[]) => unknown)(...args)) as never;
}
globalThis.Date = class extends Date {
  constructor() {
    super(0);
  }
} as DateConstructor;

const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
let received = '';
client.on('data', (chunk) => (received += chunk));
client.write(
  'GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
);
await once(client, 'close');
server.close();
console.log(received.match(/begun|and ended at|1970/g)?.join(' '));
