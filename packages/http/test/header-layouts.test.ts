import assert from 'node:assert/strict';
import { once } from 'node:events';
import http, { type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { createServer, engine } from '../src/index.ts';

const skip = engine().name === 'node';

/** Names of a request, beside Host: each is sent by many, in turn, with other values each time. */
const kinds: readonly (readonly string[])[] = [
  ['Accept', 'X-Request-Id', 'User-Agent'],
  ['X-Request-Id', 'Accept', 'User-Agent'],
  ['accept', 'X-REQUEST-ID', 'user-agent'],
  ['Accept', 'X-Request-Id', 'User-agent'],
  ['Accept', 'Accept', 'X-Request-Id'],
  ['Cookie', 'X-Request-Id', 'Cookie'],
  ['Set-Cookie', 'X-Request-Id', 'Accept'],
  ['User-Agent', 'X-Request-Id', 'User-Agent'],
  ['constructor', 'toString', 'hasOwnProperty'],
  ['__proto__', 'X-Request-Id', 'Accept'],
  ['7', 'X-Request-Id', '3'],
  ['X-Unknown-To-All', 'X-Request-Id', `X-${'long'.repeat(40)}`],
  ['X-One'],
  Array.from({ length: 60 }, (_, n) => `X-Many-${n}`),
  [],
];

test('headers of requests with the same names are those of node:http', { skip }, async () => {
  const [ours, nodes] = await Promise.all([
    askAll(createServer(listen)),
    askAll(http.createServer(listen)),
  ]);
  assert.equal(ours.length, 60 * kinds.length);
  assert.deepEqual(ours, nodes);
});

/** Says what it has got, and changes that: nobody else may see it. */
function listen({ headers, rawHeaders }: IncomingMessage, response: http.ServerResponse): void {
  const isPlain = Object.getPrototypeOf(headers) === Object.prototype;
  response.end(`${JSON.stringify([isPlain, Object.entries(headers), rawHeaders])}\n`);
  for (const name of Object.keys(headers)) headers[name] = 'changed';
  delete headers.host;
  headers['x-added'] = 'by the handler';
}

async function askAll(server: Server): Promise<unknown[]> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const requests = Array.from({ length: 60 }, (_, round) =>
    kinds.map((names, kind) => {
      const isLast = round === 59 && kind === kinds.length - 1;
      const lines = names.map((name, index) => `${name}: ${round}-${kind}-${index}\r\n`);
      return `GET / HTTP/1.1\r\nHost: a${round}\r\n${lines.join('')}${isLast ? 'Connection: close\r\n' : ''}\r\n`;
    }),
  );
  const client = connect(port, '127.0.0.1');
  client.write(requests.flat().join(''));
  const bodies = (await text(client)).match(/^\[.*$/gm) ?? [];
  server.close();
  return bodies.map((body) => JSON.parse(body) as unknown);
}
