import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { after, afterEach, describe, it } from 'node:test';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { startRedis, type RedisServer } from '@redline/services';
import { Redis } from 'ioredis';
import { JsonCache } from '../src/cache/json-cache.ts';
import { redisStore, type RedisStore } from '../src/redis/redis-store.ts';
import { tieredStore } from '../src/tiered/tiered-store.ts';
import { until } from '@redline/services/until';

const server = await startRedis();
const skip = server === undefined && 'there is no redis-server on PATH';
after(() => server?.stop());

let closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
  closing = [];
});

async function clientOf(port: number, options: object = {}): Promise<Redis> {
  const client = new Redis(port, '127.0.0.1', options);
  client.on('error', () => {});
  closing.push(() => client.disconnect());
  await until('a client', () => client.status === 'ready');
  return client;
}

function readingStore(client: Redis): RedisStore {
  const store = redisStore(client, { readConnection: true, keyPrefix: 'x:' });
  closing.push(() => store.close());
  return store;
}

/** A server on loopback that hands each connection to `serve`. */
async function listen(serve: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const listening: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    serve(socket);
  }).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  closing.push(() => {
    listening.close();
    for (const socket of sockets) socket.destroy();
  });
  return (listening.address() as AddressInfo).port;
}

describe('a connection for reads', { skip }, () => {
  const { port } = server as RedisServer;

  for (const [name, open] of [
    ['redisStore', (client: Redis) => readingStore(client)],
    ['tieredStore', (client: Redis) => tieredStore(client, { keyPrefix: 'x:' })],
  ] as const)
    it(`of ${name} follows the client to another server by the same address, and leaves a master that was demoted`, async () => {
      const next = (await startRedis()) as RedisServer;
      closing.push(() => next.stop());
      let target = port;
      const connected: number[] = [];
      const address = await listen((socket) => {
        const of = target;
        const to = connect(of, '127.0.0.1').on('error', () => {});
        connected.push(of);
        socket.pipe(to).pipe(socket);
        socket.on('close', () => {
          connected.splice(connected.indexOf(of), 1);
          to.destroy();
        });
      });
      const client = await clientOf(address, {
        reconnectOnError: (error: Error) => (error.message.includes('READONLY') ? 2 : false),
      });
      const options = { keyPrefix: `${name}:`, logger: false, timeoutMs: 30_000 } as const;
      const cache = new JsonCache({ store: open(client), ...options });
      closing.push(() => cache.close());
      let runs = 0;
      const ask = async (): Promise<string> => {
        const answer = await cache.answer('/p', () => ++runs, { tags: ['t'] });
        return (answer as { json: string }).json;
      };
      // The connection opens meanwhile: some of them by it.
      for (let times = 0; times < 50; times++) {
        assert.equal(await ask(), '1');
        await sleep(5);
      }
      const old = await clientOf(port);
      target = next.port;
      await old.replicaof('127.0.0.1', '1');
      closing.push(() => old.replicaof('NO', 'ONE'));
      await until('an invalidation', () =>
        cache.invalidate('t').then(
          () => true,
          () => false,
        ),
      );
      assert.equal(await ask(), '2');
      // The client, and the connection for reads or for invalidations.
      await until(
        'both at the next server',
        () => connected.join() === [next.port, next.port].join(),
      );
      for (let times = 0; times < 50; times++) {
        assert.equal(await ask(), '2');
        await sleep(5);
      }
      await cache.invalidate('t');
      assert.equal(await ask(), '3');
    });

  it('has the database that the client has selected, also later', async () => {
    const client = await clientOf(port);
    await client.set('x:k', '"of database 0"');
    await client.select(7);
    const store = readingStore(client);
    // The connection opens meanwhile, and each time again: some of them by it.
    const read = async (expected: string | null): Promise<void> => {
      for (let times = 0; times < 20; times++) {
        assert.equal(await store.get('k'), expected);
        await sleep(5);
      }
    };
    await read(null);
    await store.set('k', '"of database 7"', 60_000);
    await read('"of database 7"');
    await client.select(0);
    await read('"of database 0"');
  });

  it('connects as the client does where that has no TLS', async () => {
    const client = await clientOf(port, { tls: false });
    const store = readingStore(client);
    await until('a read of its own', async () => {
      await store.get('k');
      return String(await client.client('LIST')).includes('cmd=mget');
    });
  });

  it('has one run for callers whose replies come late', async () => {
    const client = await clientOf(port);
    const store = readingStore(client);
    await client.set('x:large', JSON.stringify('x'.repeat(20_000_000)));
    await until('a read of its own', async () => {
      await store.get('k');
      return String(await client.client('LIST')).includes('cmd=mget');
    });
    const cache = new JsonCache({ store, logger: false, timeoutMs: 30_000 });
    closing.push(() => cache.close());
    for (let round = 0; round < 10; round++) {
      let runs = 0;
      const ask = (): unknown => cache.answer(`/once/${round}`, () => ++runs);
      const first = ask();
      await nextTurn();
      const others = [cache.get('large'), ask()];
      await Promise.all([first, ...others]);
      assert.equal(runs, 1);
    }
  });
});

describe('a connection for reads to something that is no Redis', { skip }, () => {
  const { port } = server as RedisServer;
  const replies: Record<string, string> = {
    'no list': '*-1\r\n',
    'fewer values': '*1\r\n$1\r\nx\r\n',
    'a status': '+OK\r\n',
    'a number among them': '*2\r\n:5\r\n_\r\n',
    'an error': '-LOADING Redis is loading the dataset in memory\r\n',
    nothing: '',
    garbage: 'HTTP/1.1 400 Bad Request\r\n\r\n',
  };
  for (const [name, reply] of Object.entries(replies))
    it(`leaves the read to the client: ${name}`, async () => {
      let wasAsked = false;
      // Passes the client on to Redis, and speaks to the connection for reads itself.
      const address = await listen((socket) => {
        let to: Socket | undefined;
        socket.on('data', (piece: Buffer) => {
          const text = piece.toString('latin1');
          // ioredis says no HELLO with protocol 2.
          const isOurs = to === undefined && text.startsWith('*2\r\n$5\r\nHELLO');
          if (isOurs) {
            socket.removeAllListeners('data');
            // And to ROLE, which comes with it.
            socket.write('%1\r\n+proto\r\n:3\r\n*1\r\n+master\r\n');
            socket.on('data', (command: Buffer) => {
              if (!command.includes('MGET')) return socket.write('*1\r\n+master\r\n');
              wasAsked = true;
              return socket.write(reply === '' ? '*1\r\n+master\r\n' : reply, 'latin1');
            });
            return;
          }
          to ??= connect(port, '127.0.0.1').on('error', () => {});
          if (to.listenerCount('data') === 0) to.pipe(socket);
          to.write(piece);
        });
      });
      const client = await clientOf(address, { protocol: 2 });
      await client.set('x:k', '"right"');
      const store = readingStore(client);
      await until('it was asked', async () => {
        assert.deepEqual(await Promise.all([store.get('k'), store.get('none')]), ['"right"', null]);
        return wasAsked;
      });
    });
});
