// The engine closes a connection as soon as the last response has left. What Node knows of it then, it knows too.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { createServer, engine } from '../src/index.ts';

const skip = engine().name === 'node' && 'the native engine does not serve here';

const ways: Record<string, (response: ServerResponse) => void> = {
  'at once': (response) => response.end('body'),
  later: (response) => setImmediate(() => response.end('body')),
  'in pieces': (response) => {
    response.write('one');
    setImmediate(() => response.end('two'));
  },
  'in pieces of later turns': (response) => {
    response.flushHeaders();
    setImmediate(() => {
      response.write('one');
      setImmediate(() => response.end());
    });
  },
};

function facts(socket: Socket): unknown[] {
  const { remoteAddress, remoteFamily, localAddress, localPort, remotePort } = socket;
  const isPort = [localPort, remotePort].map((port) => typeof port);
  const { address } = socket.address() as AddressInfo;
  return [remoteAddress, remoteFamily, localAddress, ...isPort, address];
}

/** The addresses, read for the first time when the response is over. */
async function seen(
  make: typeof http.createServer,
  respond: (response: ServerResponse) => void,
  event: string,
): Promise<unknown> {
  const looks: unknown[] = [];
  const look = (message: unknown): void => {
    const { request } = message as { request: IncomingMessage };
    if (request.url === '/looked-at') looks.push(facts(request.socket));
  };
  const channel = 'http.server.response.finish';
  const server = make((request, response) => {
    if (event !== channel) response.on(event, () => look({ request }));
    respond(response);
  });
  if (event === channel) subscribe(channel, look);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = net.connect(port, '127.0.0.1').resume();
  socket.write('GET /looked-at HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  await once(socket, 'close');
  server.close();
  await once(server, 'close');
  unsubscribe(channel, look);
  return looks;
}

describe(
  'when the last response of a connection is over, its addresses are those that Node knows:',
  { skip },
  () => {
    for (const [way, respond] of Object.entries(ways)) {
      for (const event of ['finish', 'close', 'http.server.response.finish']) {
        test(`${event} of a response that ends ${way}`, async () => {
          const expected = await seen(http.createServer, respond, event);
          assert.match(JSON.stringify(expected), /127\.0\.0\.1/);
          assert.deepEqual(await seen(createServer, respond, event), expected);
        });
      }
    }
  },
);
