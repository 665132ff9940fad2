import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import {
  Agent,
  createServer,
  request as makeRequest,
  type RequestListener,
  type Server,
} from 'node:http';
import https from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { createRing, RingWriter } from '../../src/native/ring-writer.ts';
import { BEGIN, END, FIRST, KIND, LEVEL, PEER, RING } from '../../src/native/wire.ts';
import { NodeServers } from '../../src/servers/node-servers.ts';
import { until } from '@redline/services/until';

const storage = new AsyncLocalStorage<object>();
const ring = createRing(65_536, LEVEL.HEADS);
const servers = new NodeServers(new RingWriter(ring, () => {}), {
  begin: (request) => ({ url: request.url }),
  run: (context, callback) => storage.run(context, callback),
  end: () => 7,
});
after(() => servers.stop());

describe('each listener runs in the context of its request', () => {
  test('on a connection that is kept, also those of bodies and of responses', async () => {
    const seen: unknown[] = [];
    const note = (what: string) => seen.push([what, (storage.getStore() as { url?: string })?.url]);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const server = await listen((request, response) => {
      note('request');
      request.on('data', () => note('data'));
      request.on('end', () => {
        note('end');
        setImmediate(() => {
          note('later');
          response.end('ok');
        });
      });
      response.on('finish', () => note('finish'));
      response.on('close', () => note('close'));
    });
    for (const path of ['/a', '/b']) {
      const posted = makeRequest({ port: portOf(server), path, agent, method: 'POST' });
      posted.flushHeaders();
      // The body comes after the request's listeners have run.
      await until('the request', () => seen.some(([, url]: any) => url === path));
      posted.end('body');
      const [response] = await once(posted, 'response');
      response.resume();
      await once(response, 'end');
      await until('close', () => seen.some(([what, url]: any) => what === 'close' && url === path));
    }
    const names = ['request', 'data', 'end', 'later', 'finish', 'close'];
    assert.deepEqual(
      seen,
      ['/a', '/b'].flatMap((url) => names.map((name) => [name, url])),
    );
    agent.destroy();
    server.close();
  });

  test('a client that leaves: the response closes in it', async () => {
    let closed: unknown;
    const server = await listen((_, response) => {
      response.on('close', () => {
        closed = storage.getStore();
      });
    });
    const client = connect(portOf(server), '127.0.0.1');
    client.write('GET /left HTTP/1.1\r\nHost: x\r\n\r\n');
    await until('the request', () => records().some(({ line }) => line === 'GET /left'));
    client.destroy();
    await until('close', () => closed);
    assert.deepEqual(closed, { url: '/left' });
    server.close();
  });
});

describe('the ring has the facts of a request', () => {
  test('peer, head, end and close', async () => {
    const server = await listen((request, response) => {
      response.statusCode = 404;
      request.resume().on('end', () => response.end('none'));
    });
    const from = records().length;
    const client = connect(portOf(server), '127.0.0.1');
    client.write('GET /facts?a=1 HTTP/1.1\r\nHost: shop\r\nX-Name: \xe9\r\n\r\n', 'latin1');
    client.write('GET /second HTTP/1.0\r\n\r\n');
    client.resume();
    await once(client, 'close');
    await until('CLOSE', () =>
      records()
        .slice(from)
        .some(({ kind }) => kind === KIND.CLOSE),
    );
    const found = records().slice(from);
    assert.deepEqual(
      found.map(({ kind }) => kind),
      [KIND.PEER, KIND.BEGIN, KIND.BEGIN, KIND.END, KIND.END, KIND.CLOSE],
    );
    const [peer, first, second, end] = found;
    assert.equal(peer!.words[PEER.PORT], client.localPort ?? peer!.words[PEER.PORT]);
    assert.equal(first!.line, 'GET /facts?a=1');
    assert.equal(first!.block, 'Host: shop\r\nX-Name: \xe9\r\n');
    assert.equal(first!.words[BEGIN.FLAGS], 0);
    assert.equal(second!.words[BEGIN.FLAGS], BEGIN.HTTP_10);
    assert.equal(second!.words[BEGIN.SEQUENCE], first!.words[BEGIN.SEQUENCE]! + 1);
    assert.equal(end!.words[END.STATUS_AND_ROUTE]! >>> END.STATUS_SHIFT, 404);
    assert.equal(end!.words[END.STATUS_AND_ROUTE]! & END.MAX_ROUTE, 7);
    assert.equal(end!.words[END.SENT_AT], end!.words[END.ENDED_AT]);
    server.close();
  });
});

describe('once the engine serves plain HTTP', () => {
  test('a server of node:https is traced without the channels', async () => {
    servers.wrapHttps();
    servers.leaveToEngine();
    const from = records().length;
    const seen: unknown[] = [];
    const psk = Buffer.alloc(16, 1);
    const ciphers = 'PSK+HIGH';
    const options = { ciphers, pskCallback: () => psk };
    const server = https.createServer(options, (request, response) => {
      seen.push(storage.getStore());
      request.resume().on('end', () => response.end());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    for (const path of ['/one', '/two']) {
      const how = {
        port: portOf(server),
        path,
        ciphers,
        agent: false,
        // The types of node:https lack it.
        pskCallback: () => ({ psk, identity: 'test' }),
        checkServerIdentity: () => undefined,
      };
      const sent = https.request(how);
      const [response] = await once(sent.end(), 'response');
      response.resume();
      await once(response, 'end');
    }
    server.close();
    assert.deepEqual(seen, [{ url: '/one' }, { url: '/two' }]);
    const ends = (): Found[] =>
      records()
        .slice(from)
        .filter(({ kind }) => kind === KIND.END);
    await until('END of both', () => ends().length === 2);
    const begins = records()
      .slice(from)
      .filter(({ kind }) => kind === KIND.BEGIN);
    assert.deepEqual(
      begins.map(({ line, words }) => [line, words[BEGIN.FLAGS]]),
      [
        ['GET /one', BEGIN.IS_TLS],
        ['GET /two', BEGIN.IS_TLS],
      ],
    );
  });
});

interface Found {
  readonly kind: number;
  readonly words: Uint32Array;
  readonly line: string | undefined;
  readonly block: string | undefined;
}

/** The records of the ring, which nothing takes. */
function records(): Found[] {
  const found: Found[] = [];
  for (let at = 0; at < ring[RING.WRITTEN]!;) {
    const index = RING.FIRST_RECORD + at;
    const length = ring[index]! >>> FIRST.LENGTH_SHIFT;
    const words = ring.slice(index, index + length);
    const kind = words[0]! & FIRST.KIND_MASK;
    const bytes = Buffer.from(words.buffer).subarray(BEGIN.BYTES * 4);
    const lineEnd = words[BEGIN.LINE_LENGTH] ?? 0;
    const isBegin = kind === KIND.BEGIN;
    found.push({
      kind,
      words,
      line: isBegin ? bytes.toString('latin1', 0, lineEnd) : undefined,
      block: isBegin
        ? bytes.toString('latin1', lineEnd, lineEnd + words[BEGIN.BLOCK_LENGTH]!)
        : undefined,
    });
    at += length;
  }
  return found;
}

async function listen(listener: RequestListener): Promise<Server> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
