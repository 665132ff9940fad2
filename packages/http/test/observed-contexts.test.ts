import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { describe, test } from 'node:test';
import express from 'express';
import Fastify from 'fastify';
import { createServer, engine, serverFactory } from '../src/index.ts';
import { gate, serve, textOf } from './conformance/engine.ts';
import { connect, leave, Line } from './conformance/wire.ts';
import { Observation } from './observer/observer.ts';
import { until } from './until.ts';

/** Its types are another package. */
interface KoaContext {
  readonly method: string;
  readonly req: IncomingMessage;
  body: unknown;
}
interface KoaApp {
  use(middleware: (context: KoaContext) => Promise<void>): void;
  callback(): http.RequestListener;
}
const Koa = createRequire(import.meta.url)('koa') as new () => KoaApp;

const skip = engine().name === 'native' ? false : 'the addon is not built';
const own = { createServer } as typeof http;
const lastOf = (url: string, more = ''): string =>
  `GET ${url} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${more}\r\n`;
const ofRequest = ['data', 'end', 'close', 'aborted', 'error', 'resume'];
const ofResponse = ['drain', 'finish', 'close', 'error'];

/** Notes the context of each event. */
class Notes {
  readonly lines: string[] = [];
  readonly #observation: Observation;

  constructor(observation: Observation) {
    this.#observation = observation;
  }

  add(url: string, what: string): void {
    this.lines.push(`${url} ${what} in ${this.#observation.url}`);
  }

  /** Notes the events of messages. */
  listen(request: IncomingMessage, response?: ServerResponse): void {
    const url = request.url!;
    for (const name of ofRequest) request.on(name, () => this.add(url, `request ${name}`));
    for (const name of ofResponse) response?.on(name, () => this.add(url, `response ${name}`));
  }

  /** Asserts that each was in the context of its own request, and that these were among them. */
  check(...wanted: string[]): void {
    const foreign = this.lines.filter((line) => !/^(\S+) .+ in \1$/.test(line));
    assert.deepEqual(foreign, []);
    for (const what of wanted) {
      assert.ok(
        this.lines.some((line) => line.includes(` ${what} in `)),
        `${what} is missing: ${this.lines.join('\n')}`,
      );
    }
  }
}

describe('contexts of an observer:', { skip, timeout: 600_000 }, () => {
  test('a request with a body, in one piece and in many', async () => {
    using observation = new Observation();
    const notes = new Notes(observation);
    await using serving = await serve(own, {}, async (request, response) => {
      notes.add(request.url!, 'listener');
      notes.listen(request, response);
      const body = await textOf(request);
      notes.add(request.url!, 'promise');
      await new Promise((resolve) => setTimeout(resolve, 1));
      notes.add(request.url!, 'timer');
      response.write(`${body.length}`, () => notes.add(request.url!, 'written'));
      await new Promise((resolve) => setImmediate(resolve));
      response.end(() => notes.add(request.url!, 'ended'));
    });
    const post = (url: string, length: number): string =>
      `POST ${url} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`;
    await serving.talk(`${post('/small', 3)}abc`);
    await serving.talk(
      post('/late', 6),
      'abc',
      () => until('it', () => notes.lines.length > 0),
      'def',
    );
    await serving.talk(`${post('/large', 2_000_000)}${'x'.repeat(2_000_000)}`);
    await serving.talk(
      'POST /chunks HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n' +
        '1\r\na\r\n1\r\nb\r\n0\r\nX-A: b\r\n\r\n',
    );
    await until(
      'all are over',
      () => notes.lines.filter((line) => / response close /.test(line)).length === 4,
    );
    notes.check(
      'listener',
      'request data',
      'request end',
      'request close',
      'promise',
      'timer',
      'written',
      'ended',
      'response finish',
      'response close',
    );
  });

  test('responses that leave together', async () => {
    using observation = new Observation();
    const notes = new Notes(observation);
    await using serving = await serve(own, {}, (request, response) => {
      const url = request.url!;
      const number = Number(url.slice(1));
      // With listeners of both, of one, and with one that comes late.
      if (number % 4 === 0) notes.listen(request, response);
      if (number % 4 === 1) notes.listen(request);
      response.end(url);
      if (number % 4 === 2) response.on('finish', () => notes.add(url, 'late finish'));
      if (number % 4 === 3) response.on('close', () => notes.add(url, 'late close'));
    });
    const lines = Array.from({ length: 16 }, () => new Line(connect(serving.port)));
    await Promise.all(lines.map(({ socket }) => once(socket, 'connect')));
    for (const [index, { socket }] of lines.entries()) socket.write(lastOf(`/${index}`));
    await Promise.all(lines.map((line) => line.untilClosed()));
    await until('all are over', () => notes.lines.some((line) => line.startsWith('/15 ')));
    notes.check('response finish', 'response close', 'request close', 'late finish', 'late close');
  });

  test('an unread request of a batch has no context of others, without an observer too', async () => {
    const { AsyncLocalStorage } = await import('node:async_hooks');
    const storage = new AsyncLocalStorage<string>();
    const lines: string[] = [];
    await using serving = await serve(own, {}, (request, response) => {
      storage.run(request.url!, () => {
        for (const name of ['end', 'close'])
          request.on(name, () => lines.push(`${request.url} ${name} in ${storage.getStore()}`));
        response.end();
      });
    });
    const clients = Array.from({ length: 8 }, () => new Line(connect(serving.port)));
    await Promise.all(clients.map(({ socket }) => once(socket, 'connect')));
    for (const [index, { socket }] of clients.entries()) socket.write(lastOf(`/${index}`));
    await Promise.all(clients.map((client) => client.untilClosed()));
    await until('all are closed', () => lines.length === 16);
    assert.deepEqual(
      lines.filter((line) => !/^(\S+) .+ in \1$/.test(line)),
      [],
    );
  });

  test('a slow client, and an end in the context of others', async () => {
    using observation = new Observation();
    const notes = new Notes(observation);
    let other: ServerResponse | undefined;
    await using serving = await serve(own, {}, (request, response) => {
      notes.listen(request, response);
      if (request.url === '/other') {
        other = response;
        return;
      }
      response.write(Buffer.alloc(8_000_000), () => {
        response.end();
        other?.end();
      });
    });
    const first = new Line(connect(serving.port));
    first.socket.write(lastOf('/other'));
    await until('it waits', () => other !== undefined);
    const slow = new Line(connect(serving.port));
    slow.socket.pause();
    slow.socket.write(lastOf('/slow'));
    await until('it has begun', () => observation.begun.length === 2);
    slow.socket.resume();
    await slow.untilClosed();
    await first.untilClosed();
    await until(
      'both are closed',
      () => notes.lines.filter((line) => / response close /.test(line)).length === 2,
    );
    notes.check('response drain', 'response finish', 'response close');
  });

  test('responses of a pipeline, also those that Node’s own methods write', async () => {
    using observation = new Observation();
    const notes = new Notes(observation);
    class Own extends http.ServerResponse {}
    for (const options of [{}, { ServerResponse: Own as never }]) {
      const third = gate();
      const second = gate();
      await using serving = await serve(own, options, async (request, response) => {
        notes.listen(request, response);
        if (request.url === '/3') {
          response.end('c');
          third.open();
        } else if (request.url === '/2') {
          await third.opened;
          response.write('b');
          response.end();
          second.open();
        } else {
          await second.opened;
          response.end('a');
        }
      });
      const before = notes.lines.length;
      await serving.talk(
        'GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n' + lastOf('/3'),
      );
      await until('all are over', () =>
        notes.lines.slice(before).some((line) => line.startsWith('/3 response close')),
      );
    }
    notes.check('response finish', 'response close', 'request close');
  });

  test('a client that leaves', async () => {
    using observation = new Observation();
    const notes = new Notes(observation);
    await using serving = await serve(own, {}, (request, response) => {
      notes.listen(request, response);
      response.write('begun');
    });
    await serving.talk(
      'POST /left HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc',
      /begun/,
      leave,
    );
    await serving.talk(
      'GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n',
      /begun/,
      leave,
    );
    const closed = (line: string): boolean => line.includes(' response close ');
    await until('all are over', () => notes.lines.filter(closed).length === 3);
    notes.check('request aborted', 'request error', 'request close', 'response close');
  });

  test('expectations, upgrades and requests above a limit', async () => {
    using observation = new Observation();
    const seen: string[] = [];
    const note = (event: string) => (request: IncomingMessage) => {
      seen.push(`${event} ${request.url} in ${observation.url}`);
    };
    await using serving = await serve(
      own,
      {},
      (_, response) => response.end(),
      (server) => {
        server.maxRequestsPerSocket = 1;
        for (const event of ['checkContinue', 'checkExpectation'])
          server.on(event, (request: IncomingMessage, response: ServerResponse) => {
            note(event)(request);
            response.end();
          });
        for (const event of ['upgrade', 'connect'])
          server.on(event, (request: IncomingMessage, socket: Duplex) => {
            note(event)(request);
            socket.end('HTTP/1.1 101 \r\n\r\n');
          });
        server.on('dropRequest', note('dropRequest'));
      },
    );
    await serving.talk(lastOf('/continue', 'Expect: 100-continue\r\n'));
    await serving.talk(lastOf('/other', 'Expect: other\r\n'));
    await serving.talk('GET /up HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
    await serving.talk('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
    await serving.talk('GET /1 HTTP/1.1\r\nHost: a\r\n\r\n', /\r\n\r\n/, lastOf('/2'));
    assert.deepEqual(seen, [
      'checkContinue /continue in /continue',
      'checkExpectation /other in /other',
      'upgrade /up in /up',
      'connect a:1 in a:1',
      'dropRequest /2 in /2',
    ]);
  });

  test('a request that had begun before its observer went keeps its context', async () => {
    const observation = new Observation();
    const begun = gate<ServerResponse>();
    const notes = new Notes(observation);
    await using serving = await serve(own, {}, (request, response) => {
      notes.listen(request, response);
      begun.open(response);
    });
    const line = new Line(connect(serving.port));
    line.socket.write(lastOf('/held'));
    const response = await begun.opened;
    observation[Symbol.dispose]();
    using other = new Observation();
    response.end();
    await line.untilClosed();
    await until('it is closed', () => notes.lines.some((each) => each.includes('response close')));
    notes.check('response finish');
    assert.deepEqual(other.begun, []);
  });

  const frameworks: Record<string, (handle: () => Promise<string>) => Promise<http.Server>> = {
    'Express 5': async (handle) => {
      const app = express();
      app.use(express.json(), (request, response, next) => {
        handle().then((url) => response.json([request.body, url]), next);
      });
      return createServer(app);
    },
    Fastify: async (handle) => {
      const app = Fastify({ serverFactory });
      app.all('/:name', () => handle());
      await app.ready();
      return app.server;
    },
    Koa: async (handle) => {
      const app = new Koa();
      app.use(async (context) => {
        if (context.method === 'POST') await textOf(context.req);
        context.body = await handle();
      });
      return createServer(app.callback());
    },
  };
  for (const [name, create] of Object.entries(frameworks)) {
    test(`handlers of ${name}`, async () => {
      using observation = new Observation();
      const server = await create(async () => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        return String(observation.url);
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as { port: number };
      const ask = async (index: number): Promise<void> => {
        const post = {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"a":1}',
        };
        const url = `http://127.0.0.1:${port}/${index}`;
        const response = await fetch(url, index % 2 === 0 ? {} : post);
        assert.match(await response.text(), new RegExp(`/${index}"?\\]?$`));
      };
      await Promise.all(Array.from({ length: 20 }, (_, index) => ask(index)));
      const facts = await observation.facts('END', 20);
      const statuses = facts.map((fact) => (fact.kind === 'END' ? fact.status : 200));
      assert.ok(statuses.every((status) => status === 200));
      server.close();
      server.closeAllConnections();
    });
  }
});
