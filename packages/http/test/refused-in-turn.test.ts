// A request that is refused behind good ones takes its turn: node:http drops what is due and refuses at once, and the client
// takes the refusal for the response to the first.
import assert from 'node:assert/strict';
import type { RequestListener, Server } from 'node:http';
import { describe, test } from 'node:test';
import * as redline from '../src/index.ts';
import { serve, type HttpModule } from './conformance/engine.ts';

const http = redline as unknown as HttpModule;
const skip = redline.engine().name !== 'native';

const listeners: Record<string, RequestListener> = {
  'at once': (request, response) => {
    response.end(request.url);
  },
  'at the end of the body': (request, response) => {
    request.on('error', () => {});
    request.resume().on('end', () => response.end(request.url));
  },
  later: (request, response) => {
    request.on('error', () => {});
    setTimeout(() => response.end(request.url), 10);
  },
};
const good =
  'GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc';
const bad = {
  'a bad method': ['BAD\r\n\r\n', '400'],
  'a bad header': ['GET /3 HTTP/1.1\r\nHost : a\r\n\r\n', '400'],
  'an incomplete head, and the end': ['GET /3 HT', '400', 'FIN'],
  'too many headers': [`GET /3 HTTP/1.1\r\n${'a: b\r\n'.repeat(1_001)}\r\n`, '431'],
} as const;

describe('good requests are answered before a bad one behind them is refused', { skip }, () => {
  for (const [when, listener] of Object.entries(listeners)) {
    for (const [what, [bytes, status, end]] of Object.entries(bad)) {
      test(`${when}: ${what}`, async () => {
        await using serving = await serve(http, { httpAllowHalfOpen: true } as object, listener);
        const steps = end === undefined ? [] : [end];
        const { received, end: ended } = await serving.talk(good + bytes, ...steps);
        assert.deepEqual(received.match(/(?<=HTTP\/1\.1 )\d+/g), ['200', '200', status]);
        assert.equal(ended, 'closed');
      });
    }
  }

  test('what comes behind it while it waits for its turn is not refused as well', async () => {
    await using serving = await serve(http, {}, listeners['later']!);
    const { received } = await serving.talk(`${good}BAD\r\n\r\n`, 'more\r\n\r\n', 'and more');
    assert.deepEqual(received.match(/(?<=HTTP\/1\.1 )\d+/g), ['200', '200', '400']);
  });

  for (const request of [
    'GET /1 HTTP/1.0\r\n\r\n',
    'GET /1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  ]) {
    const [line] = request.split('\r\n');
    test(`a listener cuts off no response for what stands behind a request that closes: ${line}`, async () => {
      const handler: RequestListener = (_request, response) => {
        response.write('begun, ');
        setTimeout(() => response.end('and ended'), 10);
      };
      const refuse = (server: Server) =>
        server.on('clientError', (_, socket) => socket.end('HTTP/1.1 418 Not Me\r\n\r\n'));
      await using serving = await serve(http, {}, handler, refuse);
      const { received, end } = await serving.talk(`${request}${good}BAD\r\n\r\n`);
      assert.deepEqual(received.match(/(?<=HTTP\/1\.1 )\d+/g), ['200']);
      assert.match(received, /begun, [^]*and ended/);
      assert.equal(end, 'closed');
    });
  }

  test('a listener that refuses by itself comes behind what ended in its tick', async () => {
    const refuse = (server: Server) =>
      server.on('clientError', (_, socket) => socket.end('HTTP/1.1 418 Not Me\r\n\r\n'));
    await using serving = await serve(http, {}, listeners['at the end of the body'], refuse);
    const { received } = await serving.talk(`${good}BAD\r\n\r\n`);
    assert.deepEqual(received.match(/(?<=HTTP\/1\.1 )\d+/g), ['200', '200', '418']);
  });
});
