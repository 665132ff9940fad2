import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { requestsInTurn } from '../../src/load/request-bytes.ts';

interface Received {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

const plain = {
  method: 'GET',
  path: '/',
  headers: {},
  body: '',
  compare: 'body',
  timed: true,
} as const;
const endpoint = { host: '127.0.0.1', port: 3000 } as const;

describe('the requests of the closed loop', () => {
  test('have a host, and a length where they have a body or could have one', async () => {
    const received = await receive([
      plain,
      { ...plain, method: 'delete', path: '/a?b=c%20d' },
      { ...plain, method: 'POST' },
      { ...plain, method: 'DELETE', body: 'né' },
      { ...plain, method: 'PATCH', body: '{}', headers: { 'Content-Type': 'application/json' } },
    ]);
    const host = '127.0.0.1:3000';
    assert.deepEqual(received, [
      { method: 'GET', url: '/', headers: { host }, body: '' },
      { method: 'DELETE', url: '/a?b=c%20d', headers: { host }, body: '' },
      { method: 'POST', url: '/', headers: { host, 'content-length': '0' }, body: '' },
      { method: 'DELETE', url: '/', headers: { host, 'content-length': '3' }, body: 'né' },
      {
        method: 'PATCH',
        url: '/',
        headers: { host, 'content-length': '2', 'content-type': 'application/json' },
        body: '{}',
      },
    ]);
  });

  test('have the headers of the config instead', async () => {
    const headers = { HOST: 'a.example', 'Content-length': '2' };
    const [received] = await receive([{ ...plain, method: 'POST', headers, body: 'ok' }]);
    assert.deepEqual(received!.headers, { host: 'a.example', 'content-length': '2' });
  });

  test('name an IPv6 address in brackets', () => {
    const next = requestsInTurn({ host: '::1', port: 80 }, [plain]);
    assert.equal(next().bytes.toString(), 'GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n');
  });

  test('are sent in turn, the bytes of each prepared once', () => {
    const next = requestsInTurn(endpoint, [plain, { ...plain, method: 'head', path: '/b' }]);
    const sent = [next(), next(), next()];
    assert.deepEqual(
      sent.map(({ isHead }) => isHead),
      [false, true, false],
    );
    assert.equal(sent[0], sent[2]);
  });

  test('have fresh ids, the same throughout a request', async () => {
    const request = {
      ...plain,
      method: 'POST',
      path: '/orders/{{id}}',
      headers: { 'idempotency-key': '{{uuid}}' },
      body: '{"id":{{id}},"name":"é"}',
    };
    const received = await receive([request, request]);
    const ids = received.map(({ url }) => /^\/orders\/(\d{16})$/.exec(url)![1]);
    assert.equal(new Set(ids).size, 2);
    assert.deepEqual(
      received.map(({ body }) => body),
      ids.map((id) => `{"id":${id},"name":"é"}`),
    );
    const keys = received.map(({ headers }) => headers['idempotency-key'] as string);
    assert.equal(new Set(keys).size, 2);
    for (const key of keys) assert.match(key, /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  });
});

/** Returns the requests as a server of node:http reads them from one connection. */
async function receive(requests: Parameters<typeof requestsInTurn>[1]): Promise<Received[]> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    const body = (await buffer(request)).toString();
    received.push({ method: method!, url: url!, headers, body });
    response.end();
    if (received.length === requests.length) socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const next = requestsInTurn(endpoint, requests);
  socket.write(Buffer.concat(requests.map(() => next().bytes)));
  await once(socket.resume(), 'close');
  server.close();
  return received;
}
