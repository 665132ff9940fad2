// Serves many requests of all kinds, and compares what is resident when nearly half of them are done with what is at the end.
import { once } from 'node:events';
import { createConnection, type AddressInfo } from 'node:net';
import { createServer } from '../../src/index.ts';

const wanted = Number(process.env['REDLINE_REQUESTS'] ?? 200_000);
/** Sent at once on a connection, which is then replaced: so connections come and go as well. */
const perConnection = 200;
const parallel = 20;

const server = createServer(async (request, response) => {
  response.on('error', () => {});
  if (request.method === 'POST') {
    let size = 0;
    for await (const chunk of request) size += (chunk as Buffer).length;
    response.end(`got ${size}`);
  } else if (request.url === '/chunks') {
    response.write('a');
    response.end('b');
  } else {
    response.setHeader('X-Url', request.url!);
    response.end('hello');
  }
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;

const kinds = [
  (i: number) => `GET /${i % 50} HTTP/1.1\r\nHost: a\r\nX-Number: ${i}\r\n\r\n`,
  () => 'GET /chunks HTTP/1.1\r\nHost: a\r\n\r\n',
  () => 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello',
  () => 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  (i: number) => `GET /${i % 50} HTTP/1.1\r\nHost: a\r\n\r\n`,
];

let requests = 0;
let earlyMiB = 0;
while (requests < wanted) {
  await Promise.all(Array.from({ length: parallel }, () => converse()));
  requests += parallel * perConnection;
  if (earlyMiB === 0 && requests >= wanted * 0.4) earlyMiB = residentMiB();
}
process.send!({ requests, earlyMiB, lateMiB: residentMiB() });
server.close();

/** Pipelines its requests; the last one closes. */
async function converse(): Promise<void> {
  const socket = createConnection(port, '127.0.0.1');
  const texts = Array.from({ length: perConnection - 1 }, (_, i) => kinds[i % kinds.length]!(i));
  texts.push('GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  socket.resume();
  socket.write(texts.join(''));
  await once(socket, 'close');
}

function residentMiB(): number {
  globalThis.gc!();
  return Math.round(process.memoryUsage.rss() / 2 ** 20);
}
