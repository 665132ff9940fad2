// Methods that an app, not an agent, puts before ours: on Express's prototypes, as accessors, and in the middle of a response.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import { createServer, engine } from '../src/index.ts';

const skip = engine().name === 'node' && 'the native engine does not serve here';
const require = createRequire(import.meta.url);

type Methods = Record<string, (this: object, ...given: unknown[]) => unknown>;
type Make = typeof http.createServer;
interface App extends RequestListener {
  request: Methods;
  response: Methods;
  get(path: string, handler: (request: IncomingMessage, response: never) => void): void;
  post(path: string, handler: (request: IncomingMessage, response: never) => void): void;
}

/** The bytes that a client gets, its connection closed by the server. */
async function talk(make: Make, listener: RequestListener, ...sends: string[]): Promise<string[]> {
  const server = make(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const got: string[] = [];
  for (const bytes of sends) {
    const socket = net.connect(port, '127.0.0.1');
    let seen = '';
    socket.on('data', (piece) => (seen += piece.toString('latin1')));
    socket.write(bytes);
    await once(socket, 'close');
    got.push(seen.replace(/Date: [^\r]*/, 'Date'));
  }
  server.close();
  await once(server, 'close');
  return got;
}

const get = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
const post = (path: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody`;

const ofResponses = [
  'emit',
  'end',
  'write',
  'writeHead',
  'setHeader',
  'flushHeaders',
  'cork',
  'uncork',
  '_send',
  '_storeHeader',
  '_implicitHeader',
  'assignSocket',
  'detachSocket',
  'destroy',
  'on',
  'json',
  'send',
];
const ofRequests = [
  'emit',
  'on',
  'read',
  '_read',
  'push',
  'resume',
  '_dump',
  'get',
  'listenerCount',
];

describe("methods on Express's app.request and app.response", { skip }, () => {
  const express = require('express') as () => App;

  /** The calls of such methods, and what clients get. */
  async function calls(
    make: Make,
    names: { request: string[]; response: string[] },
  ): Promise<unknown> {
    const seen: string[] = [];
    const app = express();
    for (const kind of ['request', 'response'] as const) {
      const prototype = app[kind];
      for (const name of names[kind]) {
        const before = prototype[name]!;
        prototype[name] = function (...given) {
          const [first] = given;
          seen.push(
            `${kind}.${name} ${typeof first === 'string' ? first.replace(/Date: [^\r]*/, 'Date') : typeof first}`,
          );
          return before.apply(this, given);
        };
      }
    }
    app.get('/json', (_, response: { json(body: unknown): void }) => response.json({ a: 1 }));
    app.get('/pieces', (_, response: ServerResponse) => {
      response.flushHeaders();
      response.write('one');
      setImmediate(() => response.end('two'));
    });
    app.post('/body', (request, response: ServerResponse) => {
      request.on('data', () => {}).on('end', () => response.end('read'));
    });
    app.post('/unread', (_, response: ServerResponse) => response.end('unread'));
    const sends = [get('/json'), get('/pieces'), post('/body'), post('/unread')];
    // finalhandler resumes the request, which Node dumps once more when its response is over.
    if (names.request.length === 0) sends.push(get('/missing'));
    return { got: await talk(make, app, ...sends), seen };
  }

  for (const name of ofResponses) {
    test(`response.${name} is called as by Node`, async () => {
      const names = { request: [], response: [name] };
      assert.deepEqual(await calls(createServer, names), await calls(http.createServer, names));
    });
  }
  for (const name of ofRequests) {
    test(`request.${name} is called as by Node`, async () => {
      const names = { request: [name], response: [] };
      assert.deepEqual(await calls(createServer, names), await calls(http.createServer, names));
    });
  }
});

describe('an accessor in the place of a method', { skip }, () => {
  const response = http.ServerResponse.prototype as never as Methods;
  const handle = (_: IncomingMessage, answer: ServerResponse): void => {
    answer.flushHeaders();
    answer.cork();
    answer.write('one');
    answer.uncork();
    answer.end('two');
  };

  for (const name of ['end', 'write', 'flushHeaders', 'cork', 'uncork']) {
    test(`binds ${name} to the response that it is read from`, async () => {
      const own = Object.getOwnPropertyDescriptor(response, name);
      const method = response[name]!;
      const seen: string[] = [];
      Object.defineProperty(response, name, {
        configurable: true,
        get(this: object) {
          return (...given: unknown[]) => {
            seen.push(
              `${name} of ${this === (response as object) ? 'the prototype' : 'a response'}`,
            );
            return method.apply(this, given);
          };
        },
      });
      try {
        const [got] = await talk(createServer, handle, get('/'));
        const onEngine = seen.splice(0);
        assert.deepEqual(
          [await talk(http.createServer, handle, get('/')), seen],
          [[got], onEngine],
        );
        assert.ok(onEngine.length > 0);
      } finally {
        if (own === undefined) delete response[name];
        else Object.defineProperty(response, name, own);
      }
    });
  }
});

describe('a method that is replaced between two writes of a response', { skip }, () => {
  const prototype = http.OutgoingMessage.prototype as never as Methods;

  /** `_send` sees the chunks of the tick, whoever wrote them. */
  async function calls(make: Make, on: 'prototype' | 'instance', how: string): Promise<unknown> {
    const seen: string[] = [];
    const restore: (() => void)[] = [];
    const got = await talk(
      make,
      (_, response) => {
        const target = on === 'prototype' ? prototype : (response as never as Methods);
        const replace = (): void => {
          const before = target['_send']!;
          target['_send'] = function (...given) {
            seen.push(String(given[0]).replace(/Date: [^\r]*/, 'Date'));
            return before.apply(this, given);
          };
          restore.push(() => (target['_send'] = before));
        };
        if (how === 'two writes with a length') response.setHeader('Content-Length', 11);
        if (how !== 'the whole, in a later turn') response.write('one');
        const goOn = (): void => {
          replace();
          if (how !== 'the whole, in a later turn') response.write('two');
          response.end('three');
        };
        if (how === 'a later tick') return process.nextTick(goOn);
        if (how.endsWith('a later turn')) return void setImmediate(goOn);
        replace();
        if (how.startsWith('two writes')) response.write('two');
        if (how === 'the end') response.end('three');
        else setImmediate(() => response.end('three'));
      },
      get('/'),
    );
    for (const undo of restore) undo();
    return { got, seen };
  }

  for (const on of ['prototype', 'instance'] as const) {
    for (const how of [
      'two writes',
      'two writes with a length',
      'the end',
      'one write',
      'a later tick',
      'two writes in a later turn',
      'the whole, in a later turn',
    ]) {
      test(`on the ${on}, before ${how}`, async () => {
        assert.deepEqual(
          await calls(createServer, on, how),
          await calls(http.createServer, on, how),
        );
      });
    }
  }
});
