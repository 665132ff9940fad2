// The zoo itself runs in CI as a command; here is what its result stands on.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { apps } from './zoo/apps/index.ts';
import { compareVisits } from './zoo/compare.ts';
import { Client, type Exchange } from './zoo/exchange.ts';
import type { Visit } from './zoo/visit.ts';
import { get, socket } from './zoo/zoo-app.ts';

const groups = join(import.meta.dirname, 'zoo/groups');

describe('the apps of the zoo', () => {
  test('are at least 40, each with 10 requests or more and a name of its own', () => {
    assert.ok(apps.length >= 40, `${apps.length} apps`);
    assert.equal(new Set(apps.map(({ name }) => name)).size, apps.length);
    for (const app of apps) {
      const asks = app.asks({ app: 4_000, origin: 4_001 });
      assert.ok(asks.length >= 10, `${app.name} is asked ${asks.length} times`);
    }
  });

  test('have their package in a group with exact versions and a lock', () => {
    for (const app of apps) {
      const manifest = readFileSync(join(groups, app.group, 'package.json'), 'utf8');
      const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> };
      assert.match(dependencies[app.package] ?? '', /^\d+\.\d+\.\d+$/, app.name);
      assert.ok(existsSync(join(groups, app.group, 'package-lock.json')), app.group);
    }
    for (const lock of globSync('*/package-lock.json', { cwd: groups })) {
      assert.doesNotMatch(readFileSync(join(groups, lock), 'utf8'), /"resolved"/, lock);
    }
  });

  test('eight of them, of one small group, are for every CI run', () => {
    const quick = apps.filter(({ isQuick }) => isQuick);
    assert.equal(quick.length, 8);
    assert.deepEqual([...new Set(quick.map(({ group }) => group))], ['quick']);
  });
});

describe('the comparison', () => {
  test('finds a header that has another place, another case or another value', () => {
    for (const other of [
      ['HTTP/1.1 200 OK', 'B: 2', 'A: 1'],
      ['HTTP/1.1 200 OK', 'A: 1', 'b: 2'],
      ['HTTP/1.1 200 OK', 'A: 1', 'B: 3'],
      ['HTTP/1.1 200 Fine', 'A: 1', 'B: 2'],
    ]) {
      const node = visitOf({ head: ['HTTP/1.1 200 OK', 'A: 1', 'B: 2'] });
      const { differences } = compareVisits([node, node], [visitOf({ head: other })]);
      assert.deepEqual(
        differences.map(({ part }) => part),
        ['head'],
      );
    }
  });

  test('leaves out the words that two starts of Node have different, and no others', () => {
    const node = [visitOf({ body: 'id a1, name x' }), visitOf({ body: 'id b2, name x' })];
    const same = compareVisits(node, [visitOf({ body: 'id c3, name x' })]);
    assert.deepEqual(same, { differences: [], unsteady: 0 });
    const { differences } = compareVisits(node, [visitOf({ body: 'id c3, name y' })]);
    assert.deepEqual(
      differences.map(({ part }) => part),
      ['body'],
    );
  });

  test('counts a body that differs in more than words, and compares the rest', () => {
    const node = [visitOf({ body: 'a b' }), visitOf({ body: 'a b c' })];
    assert.deepEqual(compareVisits(node, [visitOf({ body: 'other' })]), {
      differences: [],
      unsteady: 1,
    });
  });

  test('finds another end of the connection, and another exit for the same signal', () => {
    const node = visitOf({});
    const engine = { ...visitOf({ end: 'reset' }), exit: 'exit 1' };
    const { differences } = compareVisits([node, node], [engine]);
    assert.deepEqual(
      differences.map(({ part }) => part),
      ['end', 'exit'],
    );
  });
});

test('the client keeps the head as it came, and a body without its chunks', async () => {
  const text = [
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 Very Well\r\nx-A: 1\r\ntransfer-encoding: chunked\r\nX-b: 2\r\n\r\n',
    '3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\nx-end: 3\r\n\r\n',
  ].join('');
  const [exchange] = await askRaw(text, false);
  assert.deepEqual(exchange!.head, [
    'HTTP/1.1 100 Continue',
    'HTTP/1.1 200 Very Well',
    'x-A: 1',
    'transfer-encoding: chunked',
    'X-b: 2',
    'x-end: 3',
  ]);
  assert.equal(exchange!.body, 'abcde');
  assert.equal(exchange!.end, 'kept');
});

test('the client sees a refused WebSocket, and a connection that is closed', async () => {
  const [, exchange] = await askRaw(
    'HTTP/1.1 401 No\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno',
    true,
  );
  assert.equal(exchange!.body, 'no');
  assert.equal(exchange!.end, 'closed');
});

function visitOf(part: Partial<Exchange>): Visit {
  const exchange: Exchange = {
    name: 'GET /',
    head: ['HTTP/1.1 200 OK'],
    body: '',
    end: 'kept',
    ...part,
  };
  return { signal: 'SIGTERM', exchanges: [exchange], exit: 'exit 0', engines: [] };
}

/** Exchanges of a page and a WebSocket with a server that always sends the same. */
async function askRaw(text: string, ends: boolean): Promise<Exchange[]> {
  const server = createServer((connection) => {
    connection.once('data', () => (ends ? connection.end(text) : connection.write(text)));
    connection.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = new Client({ host: '127.0.0.1', port });
  const exchanges = [await client.ask(get('/')), await client.ask(socket('/', [], 1))];
  server.close();
  return exchanges;
}
