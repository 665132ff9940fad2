import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { createServer, engine } from '../src/index.ts';

const skip = engine().name === 'node';
const limitMs = 50;
const get = 'GET /first HTTP/1.1\r\nHost: a\r\n\r\n';
const last = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
/** More than a batch holds, and than the kernel takes: the rest waits with the client. */
const bodyBytes = 2_048 * 1_024;
const upload = `POST /awaited HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${bodyBytes}\r\n\r\n${'x'.repeat(bodyBytes)}`;

/** Limits that pass while JavaScript is busy. The client has sent before they are set: no machine is too slow for that. */
const limits: Record<
  string,
  {
    before: string;
    request?: string;
    /** @default 6 × the limit */
    busyMs?: number;
    limit: (server: Server, socket?: Socket) => void;
  }
> = {
  'requestTimeout, with a large body': {
    before: '',
    request: upload,
    // So long the engine waits for the rest: no machine is away longer.
    busyMs: 40 * limitMs,
    limit: (server) => (server.requestTimeout = limitMs),
  },
  headersTimeout: { before: '', limit: (server) => (server.headersTimeout = limitMs) },
  keepAliveTimeout: { before: get, limit: (server) => (server.keepAliveTimeout = limitMs) },
  'the timeout of its socket': {
    before: get,
    limit: (_, socket) => socket!.setTimeout(limitMs, () => socket!.destroy()),
  },
};

/** The last line that a client hears whose request comes while JavaScript is busy, until after the limit. */
async function whileBusy(
  threaded: boolean,
  { before, request = last('/awaited'), busyMs = 6 * limitMs, limit }: (typeof limits)[string],
) {
  const options = {
    threaded,
    keepAliveTimeout: 0,
    keepAliveTimeoutBuffer: 0,
    headersTimeout: 0,
    requestTimeout: 0,
  };
  let first: Socket | undefined;
  const server = createServer(options, async (asked, response) => {
    const { url, socket } = asked;
    if (url === '/first') first = socket;
    if (url === '/busy') {
      client.write(request);
      limit(server, first);
      // The engine hears of properties of a server in a microtask.
      await undefined;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyMs);
    }
    await asked.resume().toArray();
    response.end(url);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1').setEncoding('latin1');
  let received = '';
  client.on('data', (chunk: string) => (received += chunk));
  const ended = once(client, 'end');
  await once(client, 'connect');
  if (before !== '') {
    client.write(before);
    await once(client, 'data');
  }
  connect(port, '127.0.0.1').resume().write(last('/busy'));
  await ended;
  server.close();
  return received.split('\r\n').at(-1);
}

describe(
  'a request that came in time, while JavaScript is busy, gets its response:',
  { skip },
  () => {
    for (const [name, each] of Object.entries(limits)) {
      for (const threaded of [false, true]) {
        test(`${name}${threaded ? ', on a thread' : ''}`, { timeout: 600_000 }, async () => {
          assert.equal(await whileBusy(threaded, each), '/awaited');
        });
      }
    }
  },
);
