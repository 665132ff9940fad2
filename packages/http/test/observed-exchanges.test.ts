import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { MessageChannel, Worker } from 'node:worker_threads';
import { createServer, engine, observeExchanges, responseStoreOf } from '../src/index.ts';
import { END, LEVEL } from '../../telemetry/src/native/wire.ts';
import { serve, untilNobody } from './conformance/engine.ts';
import { connect, leave, Line } from './conformance/wire.ts';
import { Observation } from './observer/observer.ts';
import type { Fact } from './observer/ring.ts';

const skip = engine().name === 'native' ? false : 'the addon is not built';
const own = { createServer } as typeof http;
/** Larger than what is read at once. */
const file = join(import.meta.dirname, '../../../package-lock.json');
const lastOf = (url: string, more = ''): string =>
  `GET ${url} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${more}\r\n`;

function end(at: string, status: number, route: number, flags = 0): Fact {
  return { kind: 'END', at, status, route, flags, isSent: true };
}

const ends = (facts: readonly Fact[]): Fact[] => facts.filter(({ kind }) => kind === 'END');

describe('the facts of exchanges:', { skip, timeout: 600_000 }, () => {
  test('requests of a connection, with their heads, statuses and routes', async () => {
    using observation = new Observation();
    observation.routes.set('/1', 7).set('/2', END.MAX_ROUTE);
    await using serving = await serve(own, {}, (request, response) => {
      response.statusCode = request.url === '/2' ? 999 : 200;
      response.end(request.method);
    });
    const line = new Line(connect(serving.port));
    await line.follow([
      'GET /1 HTTP/1.1\r\nHost: a\r\nX-One:  1\r\n\r\n',
      /GET$/,
      'POST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx',
      /POST$/,
      leave,
    ]);
    const facts = await observation.facts('END', 2);
    const [{ at }] = facts as [Fact];
    assert.deepEqual(facts, [
      { kind: 'PEER', at, address: '127.0.0.1', port: line.socket.localPort },
      { kind: 'BEGIN', at: `${at}.0`, line: 'GET /1', block: 'Host: a\r\nX-One:  1\r\n', flags: 0 },
      end(`${at}.0`, 200, 7),
      {
        kind: 'BEGIN',
        at: `${at}.1`,
        line: 'POST /2',
        block: 'Host: a\r\nContent-Length: 1\r\n',
        flags: 0,
      },
      end(`${at}.1`, 999, END.MAX_ROUTE),
    ]);
    assert.deepEqual(
      observation.begun.map(({ url, engine: number, at: place }) => [url, number, place]),
      [
        ['/1', 0, `${at}.0`],
        ['/2', 0, `${at}.1`],
      ],
    );
    line.socket.destroy();
  });

  test('all ways of a response end with its status and route', async () => {
    using observation = new Observation();
    class Own extends http.ServerResponse {}
    const ways: Record<string, http.RequestListener> = {
      '/empty': (_, response) => response.end(),
      '/chunked': (_, response) => {
        response.write('a');
        response.write('b');
        response.end('c');
      },
      '/trailers': (_, response) => {
        response.setHeader('Trailer', 'X-Sum');
        response.write('a');
        response.addTrailers({ 'X-Sum': '1' });
        response.end();
      },
      '/large': (_, response) => response.end(Buffer.alloc(100_000)),
      '/long': (_, response) => response.end('é'.repeat(1_000_000)),
      '/by node': (_, response) => {
        response.cork();
        response.write('a');
        response.end();
      },
      '/file': (_, response) => void createReadStream(file).pipe(response),
      '/later': (_, response) => void setImmediate(() => response.end('a')),
      '/not modified': (_, response) => {
        response.statusCode = 304;
        response.end();
      },
    };
    for (const options of [{}, { ServerResponse: Own as never }]) {
      await using serving = await serve(own, options, (request, response) => {
        response.statusCode = 201;
        ways[decodeURI(request.url!)]!(request, response);
      });
      for (const [index, way] of Object.keys(ways).entries()) {
        const url = encodeURI(way);
        observation.routes.set(url, index + 1);
        await serving.talk(lastOf(url));
        const facts = await observation.facts('END');
        const found = facts.findLast(({ kind }) => kind === 'END') as Fact & { kind: 'END' };
        const status = way === '/not modified' ? 304 : 201;
        assert.deepEqual([found.status, found.route], [status, index + 1], way);
      }
      await untilNobody(serving.server);
      const late = observation.rest();
      assert.ok(
        late.every(({ kind }) => kind === 'SENT'),
        JSON.stringify(late),
      );
    }
  });

  test('responses of a pipeline end in their turn', async () => {
    using observation = new Observation();
    observation.routes.set('/1', 1).set('/2', 2).set('/3', 3);
    const waiting: http.ServerResponse[] = [];
    await using serving = await serve(own, {}, (_, response) => {
      waiting.push(response);
      if (waiting.length < 3) return;
      waiting[2]!.end('c');
      waiting[1]!.writeHead(404).end('b');
      setImmediate(() => waiting[0]!.end('a'));
    });
    await serving.talk(
      'GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n' + lastOf('/3'),
    );
    const found = ends(await observation.facts('END', 3));
    assert.deepEqual(
      found.map((fact) => fact.kind === 'END' && [fact.at.split('.')[2], fact.status, fact.route]),
      [
        ['0', 200, 1],
        ['1', 404, 2],
        ['2', 200, 3],
      ],
    );
  });

  test('what the server responds by itself has its status', async () => {
    using observation = new Observation();
    await using serving = await serve(own, {}, (_, response) => response.end());
    await serving.talk('GET / HTTP/1.1\r\nConnection: close\r\n\r\n');
    await serving.talk(lastOf('/', 'Expect: other\r\n'));
    const statuses = ends(await observation.facts('END', 2)).map(
      (fact) => fact.kind === 'END' && fact.status,
    );
    assert.deepEqual(statuses, [400, 417]);
  });

  test('refused input is no request', async () => {
    using observation = new Observation();
    await using serving = await serve(own, {}, (_, response) => response.end());
    const { received } = await serving.talk('nonsense\r\n\r\n');
    assert.match(received, /^HTTP\/1.1 400 /);
    const facts = await observation.facts('REFUSED');
    assert.deepEqual(
      facts.map((fact) => ({ ...fact, at: '' })),
      [{ kind: 'REFUSED', at: '', status: 400, code: 'HPE_INVALID_METHOD' }],
    );
    assert.deepEqual(observation.begun, []);
  });

  test('a client that leaves, and a handler that destroys the connection', async () => {
    using observation = new Observation();
    await using serving = await serve(own, {}, (request, response) => {
      if (request.url === '/destroyed') response.destroy();
      else response.write('begun');
    });
    await serving.talk(lastOf('/destroyed'));
    await serving.talk(lastOf('/left'), /begun/, leave);
    const facts = await observation.facts('CLOSE', 2);
    assert.deepEqual(
      facts.map(({ kind }) => kind),
      ['PEER', 'BEGIN', 'CLOSE', 'PEER', 'BEGIN', 'CLOSE'],
    );
  });

  test('an upgrade and a CONNECT leave HTTP', async () => {
    using observation = new Observation();
    await using serving = await serve(own, {}, undefined, (server) => {
      for (const event of ['upgrade', 'connect'])
        server.on(event, (_, socket) => socket.end('HTTP/1.1 101 \r\n\r\n'));
    });
    await serving.talk('GET /up HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
    await serving.talk('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
    const found = ends(await observation.facts('END', 2));
    assert.deepEqual(
      found.map((fact) => fact.kind === 'END' && [fact.status, fact.flags]),
      [
        [101, END.IS_UPGRADE],
        [200, END.IS_UPGRADE],
      ],
    );
    assert.deepEqual(
      observation.begun.map(({ url }) => url),
      ['/up', 'a:1'],
    );
  });

  test('a kept response has the route of the one it repeats', async () => {
    using observation = new Observation();
    observation.routes.set('/kept', 9);
    await using serving = await serve(own, {}, (request, response) => {
      response.end('made');
      const store = responseStoreOf(serving.server)!;
      store.keep(request, { body: 'kept', freshMs: 600_000, from: response });
    });
    await serving.talk(lastOf('/kept'));
    await observation.facts('END');
    const { received } = await serving.talk(lastOf('/kept'));
    assert.match(received, /kept$/);
    const facts = await observation.facts('END');
    const { at } = facts.find(({ kind }) => kind === 'BEGIN')!;
    assert.deepEqual(ends(facts), [end(at, 200, 9, END.IS_KEPT)]);
    assert.equal(observation.begun.length, 1);
  });

  test('with metrics alone no head crosses', async () => {
    using observation = new Observation(LEVEL.FACTS);
    await using serving = await serve(own, {}, (_, response) => response.end());
    await serving.talk(lastOf('/'));
    const begun = (await observation.facts('END')).find(({ kind }) => kind === 'BEGIN');
    assert.equal(begun?.kind === 'BEGIN' && begun.line + begun.block, 'GET');
  });

  test('an engine with a thread of its own has its own ring', async () => {
    using observation = new Observation();
    observation.routes.set('/1', 1);
    const options = { threaded: true } as http.ServerOptions;
    await using serving = await serve(own, options, (_, response) => response.end());
    await serving.talk(lastOf('/1'));
    const facts = await observation.facts('END', 1, 1);
    const { at } = facts.find(({ kind }) => kind === 'BEGIN')!;
    assert.deepEqual(ends(facts), [end(at, 200, 1)]);
    assert.deepEqual(observation.begun, [{ url: '/1', engine: 1, at }]);
    assert.deepEqual(observation.rest(0), []);
  });

  test('an observer comes while servers serve, and goes', async () => {
    let release = (): void => {};
    await using serving = await serve(own, {}, (request, response) => {
      if (request.url === '/held') release = () => response.end();
      else response.end();
    });
    const line = new Line(connect(serving.port));
    line.socket.write(lastOf('/held'));
    await serving.talk(lastOf('/before'));
    const observation = new Observation();
    assert.throws(() => observeExchanges(observation), { code: 'ERR_REDLINE_HTTP_OBSERVER' });
    release();
    await line.untilClosed();
    await serving.talk(lastOf('/during'));
    const facts = await observation.facts('END', 2);
    assert.deepEqual(
      facts.map(({ kind }) => kind),
      ['END', 'PEER', 'BEGIN', 'END'],
    );
    observation[Symbol.dispose]();
    observation[Symbol.dispose]();
    await serving.talk(lastOf('/after'));
    assert.deepEqual(observation.rest(), []);
    assert.deepEqual(
      observation.begun.map(({ url }) => url),
      ['/during'],
    );
    using second = new Observation();
    await serving.talk(lastOf('/again'));
    await second.facts('END');
    assert.deepEqual(observation.rest(), []);
  });

  test('each thread has its own observer, before its engine is opened', async () => {
    using observation = new Observation();
    const { port1: port, port2: workerData } = new MessageChannel();
    const entry = new URL('observer/worker.ts', import.meta.url);
    const worker = new Worker(entry, { workerData, transferList: [workerData] });
    const [{ facts, begun, url }] = (await once(port, 'message')) as [
      { facts: Fact[]; begun: unknown[]; url: string },
    ];
    assert.deepEqual(
      facts.map(({ kind }) => kind),
      ['PEER', 'BEGIN', 'END'],
    );
    assert.equal(begun.length, 1);
    assert.equal(url, '/worker');
    assert.deepEqual(observation.rest(), []);
    await worker.terminate();
  });
});
