// Stores the responses to ever new targets, with tags and variants, drops some, and says now and then what memory that takes.
import { once } from 'node:events';
import { createConnection, type AddressInfo } from 'node:net';
import { responseStoreOf, createServer } from '../../src/index.ts';
import { sampleMemory, type Sample } from './sample.ts';

const wanted = Number(process.env['REDLINE_REQUESTS'] ?? 1_000_000);
const perConnection = 500;
const parallel = 10;

const options = { responseStore: { maxBytes: 16 * 2 ** 20 } };
const server = createServer(options, (request, response) => {
  const body = `this is ${request.url} ${'x'.repeat(200)}`;
  response.end(body);
  const store = responseStoreOf(server)!;
  const ticket = store.ticket();
  const number = Number(request.url!.slice(1));
  const tags = [`target:${number}`, `tens:${Math.floor(number / 10)}`];
  // Each target is asked for twice: the second time its response is stored.
  store.offer(request, { body, freshMs: 60_000, tags, vary: ['accept'] }, ticket);
  if (number % 7 === 0) store.dropTags([tags[0]!]);
  if (number % 11 === 0) store.drop(request.url!);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;

const samples: Sample[] = [];
const step = wanted / 10;
let requests = 0;
let number = 0;
while (requests < wanted) {
  await Promise.all(Array.from({ length: parallel }, () => converse()));
  requests += parallel * perConnection;
  if (requests >= (samples.length + 1) * step) samples.push(await sampleMemory(requests));
}
process.send!({ samples, stats: responseStoreOf(server)!.stats() });
server.close();

async function converse(): Promise<void> {
  const socket = createConnection(port, '127.0.0.1');
  let text = '';
  for (let i = 0; i < perConnection / 2; i++) {
    const close = i + 1 === perConnection / 2 ? 'Connection: close\r\n' : '';
    const target = `/${number++}`;
    text += `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\nGET ${target} HTTP/1.1\r\nHost: a\r\n${close}\r\n`;
  }
  socket.resume();
  socket.write(text);
  await once(socket, 'close');
}
