import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { LoadConnection } from '../../src/load/load-connection.ts';
import { until } from '@redline/services/until';

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const closing = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok';

describe('a connection of the closed loop', () => {
  test('sends the next request when the last response is complete', async (t) => {
    const { counts, paths } = await openLoad(t, (socket, requests) => {
      assert.equal(requests.length, 1);
      socket.write(ok.slice(0, 30));
      setImmediate(() => socket.write(ok.slice(30)));
    });
    await until('ten responses', () => counts.requests >= 10);
    assert.deepEqual(paths.slice(0, 3), ['/0', '/1', '/2']);
    assert.deepEqual([counts.badStatus, counts.socketErrors], [0, 0]);
  });

  test('keeps as many requests in flight as asked for', async (t) => {
    const inFlight: number[] = [];
    let unanswered = 0;
    const { counts } = await openLoad(
      t,
      (socket, requests) => {
        unanswered += requests.length;
        inFlight.push(unanswered);
        // Two at a time, in one chunk.
        if (unanswered === 4) {
          unanswered -= 2;
          socket.write(ok + ok);
        }
      },
      { pipeline: 4 },
    );
    await until('ten responses', () => counts.requests >= 10);
    assert.deepEqual([...new Set(inFlight)], [4]);
    assert.equal(counts.socketErrors, 0);
  });

  test('counts a status of 400 and above', async (t) => {
    let responses = 0;
    const { counts } = await openLoad(t, (socket) => {
      const status = [200, 302, 404, 500][responses++ % 4];
      socket.write(`HTTP/1.1 ${status} X\r\nContent-Length: 0\r\n\r\n`);
    });
    await until('40 responses', () => counts.requests >= 40);
    const share = counts.badStatus / counts.requests;
    assert.ok(share > 0.4 && share < 0.6, `${counts.badStatus} of ${counts.requests}`);
    assert.equal(counts.socketErrors, 0);
  });

  test('is opened again, without an error, where the server closes after each response', async (t) => {
    let number = 0;
    const { counts, connections } = await openLoad(t, (socket) => {
      const untilClose = 'HTTP/1.1 200 OK\r\n\r\nok';
      socket.end(number++ % 2 === 0 ? closing : untilClose);
    });
    await until('ten responses', () => counts.requests >= 10);
    assert.ok(connections() >= counts.requests, `${connections()} for ${counts.requests}`);
    assert.equal(counts.socketErrors, 0);
  });

  test('sends the requests in flight again after a response that closes it', async (t) => {
    const answered: string[] = [];
    const { counts } = await openLoad(
      t,
      (socket, requests) => {
        answered.push(requests[0]!);
        socket.end(closing);
      },
      { pipeline: 4 },
    );
    await until('ten responses', () => counts.requests >= 10);
    assert.deepEqual(answered.slice(0, 5), ['/0', '/1', '/2', '/3', '/4']);
    assert.equal(counts.socketErrors, 0);
  });

  const failures: Record<string, (socket: Socket) => void> = {
    'resets it': (socket) => socket.resetAndDestroy(),
    'closes it without a response': (socket) => socket.end(),
    'closes it within a response': (socket) => socket.end(ok.slice(0, -1)),
    'resets it within a response': (socket) => {
      socket.write(ok.slice(0, -1), () => socket.resetAndDestroy());
    },
    'does not speak HTTP': (socket) => socket.write('220 ESMTP ready\r\n'),
    'responds twice': (socket) => socket.write(ok + ok),
  };
  for (const [what, fail] of Object.entries(failures)) {
    test(`counts an error, and is opened again, where the server ${what}`, async (t) => {
      let isFailing = true;
      const { counts, connections } = await openLoad(t, (socket) => {
        if (isFailing) fail(socket);
        else socket.write(ok);
      });
      await until('three errors', () => counts.socketErrors >= 3);
      assert.ok(connections() >= 3);
      isFailing = false;
      const before = counts.requests;
      await until('it recovers', () => counts.requests >= before + 10);
      const errors = counts.socketErrors;
      await until('more responses', () => counts.requests >= before + 50);
      assert.equal(counts.socketErrors, errors);
    });
  }

  test('counts an error where no response comes in time, or no end of one', async (t) => {
    const { counts, connections } = await openLoad(
      t,
      (socket) => {
        if (connections() % 2 === 0) socket.write(ok.slice(0, -1));
      },
      { responseTimeoutMs: 5 },
    );
    await until('four errors', () => counts.socketErrors >= 4 && connections() >= 4);
    assert.equal(counts.requests, 0);
  });

  test('counts refused connections, until the server listens', async (t) => {
    const { counts, server, port } = await openLoad(t, (socket) => socket.end(closing));
    await until('a response', () => counts.requests > 0);
    server.close();
    await until('three errors', () => counts.socketErrors >= 3);
    const before = counts.requests;
    server.listen(port, '127.0.0.1');
    await until('more responses', () => counts.requests >= before + 10);
  });
});

interface Opened {
  counts: { requests: number; badStatus: number; socketErrors: number };
  /** Paths of all requests that came. */
  paths: string[];
  connections: () => number;
  server: Server;
  port: number;
}

/** Opens one connection to a server that is called with the paths of the requests in each chunk. */
async function openLoad(
  t: TestContext,
  respond: (socket: Socket, paths: string[]) => void,
  { pipeline = 1, responseTimeoutMs = 60_000 } = {},
): Promise<Opened> {
  const counts = { requests: 0, badStatus: 0, socketErrors: 0 };
  const paths: string[] = [];
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      const found = [...chunk.toString().matchAll(/^GET (\S+) /gm)].map(([, path]) => path!);
      paths.push(...found);
      respond(socket, found);
    });
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  let number = 0;
  const connection = LoadConnection.open({
    host: '127.0.0.1',
    port,
    pipeline,
    responseTimeoutMs,
    counts,
    next: () => ({
      bytes: Buffer.from(`GET /${number++} HTTP/1.1\r\nHost: a\r\n\r\n`),
      isHead: false,
    }),
  });
  t.after(() => connection[Symbol.dispose]());
  return { counts, paths, connections: () => connections, server, port };
}
