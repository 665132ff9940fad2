import assert from 'node:assert/strict';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { createServer, engine } from '../src/index.ts';
import { compare, onShortWay, usual } from './replaced/matrix.ts';

// Every method × place × order × framework: replaced-methods.slow.test.ts.

const skip = engine().name === 'node' && 'the native engine does not serve here';

describe('methods of node:http that somebody replaces are called as on Node:', { skip }, () => {
  test('after register, on the prototype', () =>
    compare({
      order: 'after',
      place: 'prototype',
      how: 'assign',
      framework: 'node:http',
      groups: usual,
    }));

  for (const [at, group] of usual.entries()) {
    const names = group.map(([, method]) => method).join(', ');
    test(`before register, on the prototype: ${names}`, () =>
      compare({
        order: 'before',
        place: 'prototype',
        how: at % 2 === 0 ? 'define' : 'assign',
        framework: 'node:http',
        groups: [group],
      }));
  }

  const ofMessages = [onShortWay, ...onShortWay.map((method) => [method])];
  for (const place of ['subclass', 'instance'] as const) {
    test(`on the ${place}`, () =>
      compare({
        order: 'after',
        place,
        how: 'assign',
        framework: 'node:http',
        groups: ofMessages,
      }));
  }

  for (const framework of ['Express 5', 'Fastify with @fastify/express']) {
    test(`under ${framework}`, () =>
      compare({
        order: 'before',
        place: 'prototype',
        how: 'assign',
        framework,
        groups: [onShortWay],
      }));
  }
});

describe('engine(server):', { skip }, () => {
  const response = http.ServerResponse.prototype;

  test('it names the replaced methods that keep messages off the short way', async () => {
    const server = createServer((_, answer) => answer.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    assert.deepEqual(engine(server), { name: 'native' });
    const { emit } = response;
    response.emit = function replaced(this: http.ServerResponse, ...given: never[]) {
      return emit.apply(this, given as never);
    } as never;
    assert.deepEqual(engine(server), {
      name: 'native',
      replaced: ['http.ServerResponse.prototype.emit'],
    });
    delete (response as { emit?: unknown }).emit;
    assert.deepEqual(engine(server), { name: 'native' });
    server.close();
    await once(server, 'close');
  });

  test('it names the method that only Node’s server calls, and from when on', async () => {
    const { write } = net.Socket.prototype;
    const written: unknown[] = [];
    const server = createServer((_, answer) => answer.end('body')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const get = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/`)).text();
    net.Socket.prototype.write = function replaced(this: net.Socket, ...given: unknown[]) {
      if ((this as { server?: unknown }).server === server) written.push(given[0]);
      return write.apply(this, given as never);
    } as never;
    try {
      // The connection on which it is noticed is the engine's.
      assert.equal(await get(), 'body');
      assert.deepEqual(engine(server), {
        name: 'node',
        reason: 'net.Socket.prototype.write was replaced, and only Node’s own server calls it',
      });
      const before = written.length;
      const response2 = await fetch(`http://127.0.0.1:${port}/`, {
        headers: { connection: 'close' },
      });
      assert.equal(await response2.text(), 'body');
      assert.ok(written.length > before);
    } finally {
      net.Socket.prototype.write = write;
    }
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
});
