import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { createServer, engine } from '../src/index.ts';
import { Serving } from './conformance/engine.ts';

/** With Node the parser of the connection has failed, and its next bytes are a clientError. */
test(
  'a listener that throws costs its connection no other request, if the process goes on',
  { skip: engine().name === 'node' },
  async () => {
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    const server = createServer((request, response) => {
      if (request.url !== '/bad') return void response.end(request.url);
      process.once('uncaughtException', () => {
        response.statusCode = 500;
        response.end();
      });
      throw new Error('thrown');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const serving = new Serving(server);
    try {
      const { received } = await serving.talk(
        'GET /bad HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
      );
      assert.match(received, /^HTTP\/1\.1 500 [^]*HTTP\/1\.1 200 OK[^]*\/next$/);
    } finally {
      for (const listener of others) process.on('uncaughtException', listener as () => void);
      await serving[Symbol.asyncDispose]();
    }
  },
);
