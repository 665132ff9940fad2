import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { wrapMongodb } from '../../src/calls-out/preload/drivers/mongodb.ts';
import { wrapPg } from '../../src/calls-out/preload/drivers/pg.ts';
import { CallRecorder } from '../../src/calls-out/preload/recorder.ts';
import type { RequestCalls } from '../../src/calls-out/preload/protocol.ts';

/** The shape of a connection of mongodb: promises in new versions, callbacks in old ones. */
class Connection {
  readonly id = 7;

  command(
    _namespace: string,
    command: object,
    _options: object,
    callback?: (...args: unknown[]) => void,
  ): unknown {
    const fails = 'fails' in command;
    if (callback === undefined || /^class\b/.test(String(callback))) {
      return fails ? Promise.reject(new Error('it fails')) : Promise.resolve({ id: this.id });
    }
    return setImmediate(() =>
      fails ? callback(new Error('it fails')) : callback(undefined, this.id),
    );
  }
}

class Recorded {
  readonly ok = 1;
}

/** The shape of a client of pg. */
class Client {
  readonly name = 'client';

  query(...args: unknown[]): unknown {
    if (args[0] === 'fails at once') throw new Error('it fails');
    const callback = (args.findLast((each) => typeof each === 'function') ??
      (args[0] as { callback?: unknown }).callback) as ((...args: unknown[]) => void) | undefined;
    if (callback === undefined) return Promise.resolve([this.name, args]);
    setImmediate(() => callback.call(this, undefined, args.length));
    return undefined;
  }
}

/** The shape of a pool of pg, which ignores a callback in the config. */
class Pool {
  query(_config: object): Promise<string> {
    return Promise.resolve('promised');
  }
}

const recorder = new CallRecorder();
let handle: () => Promise<unknown>;
const server = createServer((_request, response) => {
  void handle().then((value) => response.end(JSON.stringify(value)));
});

async function callsOf(
  work: () => Promise<unknown>,
): Promise<{ body: unknown; seen: RequestCalls[] }> {
  handle = work;
  const { port } = server.address() as AddressInfo;
  const [response] = (await once(get({ port, host: '127.0.0.1' }), 'response')) as [
    IncomingMessage,
  ];
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return { body: JSON.parse(body) as unknown, seen: recorder.take() };
}

describe('a wrapped driver', () => {
  before(async () => {
    wrapMongodb(recorder)(Connection);
    wrapPg(recorder)(Client);
    wrapPg(recorder)(Pool);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    recorder.start();
  });
  after(() => {
    recorder.stop();
    server.close();
  });

  test('keeps `this`, results and errors, by promises and by callbacks', async () => {
    const { body, seen } = await callsOf(async () => {
      const connection = new Connection();
      const found = await connection.command(
        'shop.orders',
        { find: 'orders', filter: { a: 1 } },
        {},
      );
      const failed = await (connection.command('x', { fails: 1 }, {}) as Promise<unknown>).catch(
        ({ message }: Error) => message,
      );
      const called = await new Promise((resolve) =>
        connection.command('x', { count: 'orders', query: { b: 2 } }, {}, (error, id) =>
          resolve([error, id]),
        ),
      );
      // New versions pass the class of the response.
      const ofClass = connection.command('x', { ping: 1 }, {}, Recorded as never);
      return [found, failed, called, typeof ofClass];
    });
    assert.deepEqual(body, [{ id: 7 }, 'it fails', [null, 7], 'object']);
    assert.deepEqual(
      seen.flatMap(({ calls }) => calls.map(({ text, hasFailed }) => [text, hasFailed])),
      [
        ['find orders {a: ?}', undefined],
        ['fails', true],
        ['count orders {b: ?}', undefined],
        ['ping', undefined],
      ],
    );
  });

  test('throws what the driver throws at once', async () => {
    const { body, seen } = await callsOf(async () => {
      try {
        return new Client().query('fails at once');
      } catch (error) {
        return (error as Error).message;
      }
    });
    assert.equal(body, 'it fails');
    assert.equal(seen[0]!.calls[0]!.hasFailed, true);
  });

  test('keeps its name, length and arguments, and the callback its `this`', async () => {
    assert.equal(Client.prototype.query.name, 'query');
    const { body } = await callsOf(async () => {
      const client = new Client();
      const values = [1];
      const promised = await client.query('SELECT 1', values);
      const called = await new Promise((resolve) =>
        client.query('SELECT 1', values, function (this: Client, _error: unknown, count: number) {
          resolve([this.name, count]);
        }),
      );
      return [promised, called];
    });
    assert.deepEqual(body, [
      ['client', ['SELECT 1', [1]]],
      ['client', 3],
    ]);
  });

  test('leaves the config of a query as it is, which the app may have frozen', async () => {
    const { body, seen } = await callsOf(async () => {
      const query = (client: { query(config: object): unknown }): Promise<unknown[]> =>
        new Promise((resolve) => {
          const config = Object.freeze({
            text: 'SELECT 1',
            callback: (_error: unknown, count: number) => resolve(['called', count]),
          });
          const promise = client.query(config) as Promise<string> | undefined;
          void promise?.then((value) => resolve([value]));
        });
      return [await query(new Client()), await query(new Pool())];
    });
    assert.deepEqual(body, [['called', 1], ['promised']]);
    assert.deepEqual(
      seen[0]!.calls.map(({ text, isOpen }) => [text, isOpen]),
      [
        ['SELECT $1', undefined],
        ['SELECT $1', undefined],
      ],
    );
  });

  test('reports a rejection that the app does not handle, as without a wrapper', async () => {
    const unhandled: unknown[] = [];
    const listen = (error: unknown): void => void unhandled.push(error);
    const usual = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', listen);
    try {
      await callsOf(async () => {
        void new Connection().command('x', { fails: 1 }, {});
        return 'now';
      });
      // Node reports it when the microtasks are done.
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.removeListener('unhandledRejection', listen);
      for (const each of usual) process.on('unhandledRejection', each);
    }
    assert.deepEqual(
      unhandled.map((error) => (error as Error).message),
      ['it fails'],
    );
  });

  test('calls after the response, and outside of a request, are not recorded', async () => {
    await new Client().query('SELECT 1');
    const { seen } = await callsOf(async () => {
      const late = once(server, 'late');
      void late.then(() => new Client().query('SELECT 2'));
      return 'now';
    });
    server.emit('late');
    assert.deepEqual(
      [...seen, ...recorder.take()].map(({ calls }) => calls),
      [[]],
    );
  });
});
