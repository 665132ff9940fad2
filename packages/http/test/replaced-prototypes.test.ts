// Frameworks that replace the prototypes of request and response are served on the fast path all the same.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { createServer, engine } from '../src/index.ts';
import { frameworks } from './frameworks/frameworks.ts';
import { kDirect } from '../src/node/message-state.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;
interface App extends RequestListener {
  request: object;
  response: object;
  use(path: string | Handler, app?: App): void;
  get(path: string, handler: (request: Facts, response: Express) => unknown): void;
}
interface ExpressModule {
  (): App;
  request: object;
  response: object;
}
type Facts = IncomingMessage & { ip: string; protocol: string; hostname: string; query: object };
type Express = ServerResponse & { json(body: unknown): void };

const require = createRequire(import.meta.url);
const skip = engine().name === 'native' ? false : 'the addon is not built';

/** A copy of Express that nobody has used yet, whose prototypes end in Node's. */
function freshExpress(name = 'express'): ExpressModule {
  const entry = require.resolve(name);
  const folder = entry.slice(0, entry.lastIndexOf('/') + 1);
  for (const id of Object.keys(require.cache)) if (id.startsWith(folder)) delete require.cache[id];
  return require(name) as ExpressModule;
}

function jsonApp(express: ExpressModule): App {
  const app = express();
  app.get('/json', (request, response) => {
    const { ip, protocol, query, httpVersion, hostname, rawHeaders } = request;
    const sent = [rawHeaders.length > 0, Object.keys(request).includes('res')];
    // Younger than Node 22.
    const isAborted = (request as { signal?: AbortSignal }).signal?.aborted;
    const locals = Object.keys(response).includes('locals');
    response.json({ ip, protocol, query, httpVersion, hostname, sent, locals, isAborted });
  });
  return app;
}

/** What two requests are answered, and whether the engine wrote each answer itself. */
async function asked(
  make: typeof http.createServer,
  handler: RequestListener,
  path = '/json?a=1',
): Promise<{ answers: unknown[]; isDirect: unknown[] }> {
  const isDirect: unknown[] = [];
  const server = make((request, response) => {
    response.on('finish', () => isDirect.push((response as { [kDirect]?: boolean })[kDirect]));
    return handler(request, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const answers: unknown[] = [];
  for (let turn = 0; turn < 2; turn += 1) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    const { date: _, ...headers } = Object.fromEntries(response.headers);
    answers.push([response.status, headers, await response.text()]);
  }
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
  return { answers, isDirect };
}

const nodeServer = http.createServer;
const engineServer = createServer as typeof http.createServer;

describe('replaced prototypes:', { skip, timeout: 600_000 }, () => {
  for (const name of ['express', 'express-4']) {
    test(`an app of ${name} is on the fast path from its first request on`, async () => {
      const app = jsonApp(freshExpress(name));
      const { answers, isDirect } = await asked(engineServer, app);
      assert.deepEqual(isDirect, [true, true]);
      assert.deepEqual(answers, (await asked(nodeServer, jsonApp(freshExpress(name)))).answers);
    });

    test(`so is a router of ${name} in a function, which waits before it calls the app`, async () => {
      const app = jsonApp(freshExpress(name));
      const { isDirect } = await asked(engineServer, async (request, response) => {
        await new Promise(setImmediate);
        app(request, response);
      });
      assert.deepEqual(isDirect, [true, true]);
    });

    test(`so is an app of ${name} whose prototypes have been extended`, async () => {
      const express = freshExpress(name);
      const app = jsonApp(express);
      class Request extends http.IncomingMessage {}
      class Response extends http.ServerResponse {}
      for (const [key, own] of Object.entries({ request: Request, response: Response })) {
        const prototype = own.prototype;
        const { constructor: _, ...methods } = Object.getOwnPropertyDescriptors(
          express[key as 'request'],
        );
        Object.defineProperties(prototype, methods as PropertyDescriptorMap);
        app[key as 'request'] = Object.create(prototype, {
          app: { value: app, writable: true, configurable: true },
        }) as object;
      }
      const { answers, isDirect } = await asked(engineServer, app);
      assert.deepEqual(isDirect, [true, true]);
      assert.deepEqual(answers, (await asked(nodeServer, jsonApp(freshExpress(name)))).answers);
      // A message of such a class is as Node makes it.
      const made = new Request(null as never);
      assert.deepEqual(Object.keys(made), Object.keys(new http.IncomingMessage(null as never)));
      assert.deepEqual(
        Object.keys(new Response(made)),
        Object.keys(new http.ServerResponse(new http.IncomingMessage(null as never))),
      );
    });
  }

  for (const [outer, inner] of [
    ['express', 'express-4'],
    ['express-4', 'express'],
    ['express', 'express'],
  ] as const) {
    test(`an app of ${inner} in one of another copy of ${outer} is, too`, async () => {
      const build = (): App => {
        const within = jsonApp(freshExpress(inner));
        const app = freshExpress(outer)();
        app.use('/in', within);
        return app;
      };
      const { answers, isDirect } = await asked(engineServer, build(), '/in/json');
      assert.deepEqual(isDirect, [true, true]);
      assert.deepEqual(answers, (await asked(nodeServer, build(), '/in/json')).answers);
    });
  }

  for (const [name, prepare] of Object.entries(frameworks)) {
    test(`under ${name} the engine writes the answers itself`, async () => {
      const framework = await prepare();
      const listener: RequestListener = ({ url }, response) => response.end(url);
      const { answers, isDirect } = await asked(engineServer, framework(listener), '/x');
      assert.deepEqual(isDirect, [true, true]);
      assert.deepEqual(answers, (await asked(nodeServer, framework(listener), '/x')).answers);
    });
  }

  test('one app serves the engine’s messages and Node’s in turn', async () => {
    for (const name of ['express', 'express-4']) {
      const app = jsonApp(freshExpress(name));
      const before = await asked(nodeServer, app);
      assert.deepEqual(before.isDirect, [undefined, undefined]);
      const ours = await asked(engineServer, app);
      const after = await asked(nodeServer, app);
      assert.deepEqual(ours.answers, before.answers);
      assert.deepEqual(after, before);
    }
  });

  test('objects that are no messages see nothing of the engine', async () => {
    const express = freshExpress();
    await asked(engineServer, jsonApp(express));
    const request = Object.create(express.request) as Record<string, unknown>;
    const response = Object.create(express.response) as Record<string, unknown>;
    for (const name of ['httpVersion', 'rawHeaders', 'socket', 'client', '_readableState']) {
      assert.equal(request[name], undefined, name);
    }
    assert.equal(response['locals'], undefined);
    assert.equal(response['socket'], undefined);
    response['locals'] = { mine: true };
    request['headers'] = { host: 'a' };
    request['socket'] = 'a socket';
    assert.deepEqual(Object.entries(response), [['locals', { mine: true }]]);
    assert.deepEqual([request['headers'], request['socket']], [{ host: 'a' }, 'a socket']);
  });

  test('prototypes that somebody else replaces are mended when the handler returns', async () => {
    const requests = Object.create(http.IncomingMessage.prototype) as object;
    const responses = Object.create(http.ServerResponse.prototype) as object;
    const { answers, isDirect } = await asked(engineServer, async (request, response) => {
      Object.setPrototypeOf(request, requests);
      Object.setPrototypeOf(response, responses);
      await new Promise(setImmediate);
      response.end(`${request.url} ${request.headers.connection} ${request.httpVersion}`);
    });
    assert.deepEqual(isDirect, [true, true]);
    assert.deepEqual(
      answers.map((answer) => (answer as unknown[])[2]),
      ['/json?a=1 keep-alive 1.1', '/json?a=1 keep-alive 1.1'],
    );
  });

  test('prototypes that are replaced later are mended when the client leaves', async () => {
    const requests = Object.create(http.IncomingMessage.prototype) as object;
    const responses = Object.create(http.ServerResponse.prototype) as object;
    const replaced = Promise.withResolvers<ServerResponse>();
    const server = createServer(async (request, response) => {
      await new Promise(setImmediate);
      Object.setPrototypeOf(request, requests);
      Object.setPrototypeOf(response, responses);
      replaced.resolve(response);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const request = http.get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
    request.on('error', () => {});
    const response = await replaced.promise;
    const closed = once(response, 'close');
    request.destroy();
    await closed;
    assert.equal(response.writableFinished, false);
    server.close();
    await once(server, 'close');
  });

  test('a class for the server’s own messages is left as it is', async () => {
    class Request extends http.IncomingMessage {}
    class Response extends http.ServerResponse {}
    const make = ((listener: RequestListener) =>
      createServer(
        { IncomingMessage: Request, ServerResponse: Response } as never,
        listener,
      )) as never;
    await asked(make, (_, response) => response.end());
    assert.equal(Object.getPrototypeOf(Request.prototype), http.IncomingMessage.prototype);
    assert.equal(Object.getPrototypeOf(Response.prototype), http.ServerResponse.prototype);
  });

  test('a client that leaves does not end the process, whatever class the response is of', async () => {
    class Response extends http.ServerResponse {}
    const server = createServer({ ServerResponse: Response }, (_, response) => {
      response.write('begun');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const closed = once(server, 'request').then(([, response]) => once(response, 'close'));
    const request = http.get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
    request.on('error', () => {});
    await once(request, 'response');
    request.destroy();
    await closed;
    server.close();
    await once(server, 'close');
  });
});
