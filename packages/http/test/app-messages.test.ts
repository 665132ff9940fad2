// A server whose one listener is an app of Express makes messages with the prototypes of that app: nobody else sees them so.
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import net, { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { createServer, engine } from '../src/index.ts';
import { kDirect } from '../src/node/message-state.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, next: () => void) => unknown;
interface App extends RequestListener {
  request: Record<string, unknown>;
  response: Record<string, unknown>;
  handle: (...given: unknown[]) => unknown;
  use(handler: Handler): void;
}
interface Situation {
  app: App;
  server: http.Server;
  note(what: unknown): void;
}

const require = createRequire(import.meta.url);
const skip = engine().name === 'native' ? false : 'the addon is not built';
const nodeServer = http.createServer;
const engineServer = createServer as typeof http.createServer;
const post = 'POST /a?b=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody';
const chunked =
  'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n';
const get = 'GET /a?b=1 HTTP/1.1\r\nHost: a\r\n\r\n';

function isApps(message: object): boolean {
  return 'accepts' in message || 'json' in message;
}

function appOf(name: string): App {
  const app = (require(name) as () => App)();
  app.use((request, answer, next) => {
    const response = answer as ServerResponse & { json(body: unknown): void };
    if (request.url === '/next') next();
    else if (request.method === 'POST') void text(request).then((body) => response.json({ body }));
    else response.json({ url: request.url });
  });
  return app;
}

/** Whoever may see a message before the app does, or be called for it. */
const situations: Record<string, (situation: Situation) => (() => void) | void> = {
  'a listener before the app': ({ server, note }) => {
    server.prependListener('request', (request, response) =>
      note([isApps(request), isApps(response)]),
    );
  },
  'a replaced emit of the server': ({ server, note }) => {
    const emit = server.emit as (...given: unknown[]) => boolean;
    server.emit = function replaced(this: http.Server, ...given: unknown[]) {
      if (given[0] === 'request') note(given.slice(1).map((message) => isApps(message as object)));
      return emit.apply(this, given);
    } as never;
  },
  'a subscriber of the channel of requests': ({ note }) => {
    const listener = (message: unknown): void => {
      const { request, response } = message as { request: object; response: object };
      note([isApps(request), isApps(response)]);
    };
    subscribe('http.server.request.start', listener);
    return () => unsubscribe('http.server.request.start', listener);
  },
  'a setHeader of the app': ({ app, note }) => {
    app.response['setHeader'] = function setHeader(
      this: ServerResponse,
      name: string,
      value: string,
    ) {
      note(name);
      return http.ServerResponse.prototype.setHeader.call(this, name, value);
    };
  },
  'an accessor of the app for a field of messages': ({ app, note }) => {
    Object.defineProperty(app.request, 'url', {
      get: () => '/never',
      set() {
        note('set');
      },
    });
  },
  'a listener of expectations': ({ server, note }) => {
    server.on('checkContinue', (request, response) => {
      note([isApps(request), isApps(response)]);
      response.writeContinue();
      server.emit('request', request, response);
    });
  },
  'a limit of requests': ({ server, note }) => {
    server.maxRequestsPerSocket = 2;
    server.on('dropRequest', (request: object) => note(isApps(request)));
  },
};

/** Changes between the third and the fourth request, when the messages have the prototypes of the app. */
const changes: typeof situations = {
  'a setHeader of the app that comes later': situations['a setHeader of the app']!,
  'a listener that comes later': situations['a listener before the app']!,
  'a subscriber that comes later': situations['a subscriber of the channel of requests']!,
  'an emit that is replaced later': situations['a replaced emit of the server']!,
  'other prototypes of the app': ({ app }) => {
    app.response = Object.create(app.response, {
      json: {
        value(this: ServerResponse) {
          this.end('other');
        },
      },
    });
  },
};

async function ask(port: number, bytes: string): Promise<string> {
  const socket = net.connect(port, '127.0.0.1');
  socket.end(bytes);
  const all = await text(socket);
  return all.replaceAll(/^Date: .*$/gm, 'Date');
}

async function course(
  create: typeof http.createServer,
  name: string,
  prepare: (situation: Situation) => (() => void) | void,
  isLate: boolean,
): Promise<unknown[]> {
  const app = appOf(name);
  const seen: unknown[] = [];
  const note = (what: unknown): void => {
    seen.push(what);
  };
  const server = create(app);
  let undo = isLate ? undefined : prepare({ app, server, note });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const expecting = get.replace(
    '\r\n\r\n',
    '\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok',
  );
  for (let turn = 0; turn < 3; turn += 1) seen.push(await ask(port, get));
  if (isLate) undo = prepare({ app, server, note });
  seen.push(await ask(port, get + get + get));
  seen.push(await ask(port, post), await ask(port, chunked), await ask(port, post + get + post));
  seen.push(await ask(port, get.replace('/a?b=1', '/next')));
  seen.push(await ask(port, get.replace('GET', 'HEAD')));
  seen.push(await ask(port, expecting));
  seen.push(await ask(port, 'GET / HTTP/1.1\r\n\r\n'));
  seen.push(await ask(port, get.replace('HTTP/1.1', 'HTTP/1.0')));
  undo?.();
  server.close();
  await once(server, 'close');
  return seen;
}

describe('messages of an app:', { skip, timeout: 600_000 }, () => {
  for (const name of ['express', 'express-4']) {
    test(`an app of ${name} gets them with its own prototypes from the second request on`, async () => {
      const app = appOf(name);
      const { handle } = app;
      const seen: boolean[][] = [];
      app.handle = function seeing(request, response, next) {
        const isOwn = Object.getPrototypeOf(request) === app.request;
        const areOwn = Object.getPrototypeOf(response) === app.response;
        seen.push([isOwn, areOwn, (response as { [kDirect]: boolean })[kDirect]]);
        return handle.call(app, request, response, next);
      };
      const server = engineServer(app);
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const { port } = server.address() as AddressInfo;
      for (let turn = 0; turn < 3; turn += 1) await ask(port, get);
      assert.match(await ask(port, post), /"body":"body"/);
      assert.match(await ask(port, chunked), /"body":"ok"/);
      server.close();
      await once(server, 'close');
      assert.deepEqual(seen, [
        [false, false, true],
        [true, true, true],
        [true, true, true],
        [true, true, true],
        [true, true, true],
      ]);
    });

    for (const [what, prepare] of Object.entries(situations)) {
      test(`${what} sees what it sees with Node, ${name}`, async () => {
        assert.deepEqual(
          await course(engineServer, name, prepare, false),
          await course(nodeServer, name, prepare, false),
        );
      });
    }

    for (const [what, change] of Object.entries(changes)) {
      test(`${what} is as with Node, ${name}`, async () => {
        assert.deepEqual(
          await course(engineServer, name, change, true),
          await course(nodeServer, name, change, true),
        );
      });
    }
  }
});
