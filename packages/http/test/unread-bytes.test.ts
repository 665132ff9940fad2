import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { createServer, engine } from '../src/index.ts';

const skip = engine().name === 'node';
const text = 'HTTP/1.1 408 Request Timeout\r\nContent-Length: 4\r\n\r\nlate';

/** `sendMore`: the kernel has further bytes of the client when it returns, which nobody has read. */
type Way = (server: Server, sendMore: () => void) => void;

/** Ways to respond and to close at once. On node:http the kernel may reset each of them, and the client gets an error. */
const ways: Record<string, Way> = {
  'a clientError listener writes and destroys, as that of Fastify': (server, sendMore) => {
    server.on('clientError', (error, socket) => {
      sendMore();
      socket.write(text);
      socket.destroy(error);
    });
  },
  'a handler writes to the socket and destroys it': (server, sendMore) => {
    server.on('request', ({ socket }) => {
      sendMore();
      socket.write(text);
      socket.destroy();
    });
  },
  'a handler ends its response and destroys the socket': (server, sendMore) => {
    server.on('request', (request, response) => {
      sendMore();
      response.end('late');
      request.socket.destroy();
    });
  },
  'a handler ends its response and closes all connections': (server, sendMore) => {
    server.on('request', (_, response) => {
      sendMore();
      response.end('late');
      server.closeAllConnections();
    });
  },
  'a handler ends a response that says Connection: close': (server, sendMore) => {
    server.on('request', (_, response) => {
      sendMore();
      response.setHeader('Connection', 'close').end('late');
    });
  },
};

describe('a client that goes on sending gets the response, and an end:', { skip }, () => {
  for (const [name, prepare] of Object.entries(ways)) {
    for (const threaded of [false, true]) {
      test(`${name}${threaded ? ', on a thread' : ''}`, { timeout: 600_000 }, async () => {
        const server = createServer({ threaded, headersTimeout: 0, requestTimeout: 0 });
        let client: Socket | undefined;
        prepare(server, () => {
          client!.write(`X-A: ${'a'.repeat(1_000)}\r\n`);
          assert.equal(client!.writableLength, 0);
        });
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        client = connect((server.address() as AddressInfo).port, '127.0.0.1');
        await once(client, 'connect');
        client.write('GET / HTTP/1.1\r\nHost: a\r\n');
        if (server.listenerCount('request') > 0) client.write('\r\n');
        else server.requestTimeout = 5;
        let received = '';
        client.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
        try {
          await once(client, 'end');
        } finally {
          server.close();
        }
        assert.match(received, /late$/);
      });
    }
  }
});
