// Serves many requests of all kinds, and says now and then what memory that takes. REDLINE_HTTP=node: the same on node:http.
import { once } from 'node:events';
import { createConnection, type AddressInfo } from 'node:net';
import { createServer } from '../../src/index.ts';
import { sampleMemory, type Sample } from './sample.ts';

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

/** Until then code is compiled, tables are filled and pools reach their size. */
const warmUp = 80_000;
const first = Math.max(warmUp, wanted / 10);
const step = (wanted - first) / 9;

const samples: Sample[] = [];
let requests = 0;
while (requests < wanted || samples.length < 10) {
  await Promise.all(Array.from({ length: parallel }, () => converse()));
  requests += parallel * perConnection;
  if (requests >= first + samples.length * step) samples.push(await sampleMemory(requests));
}
process.send!(samples);
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
