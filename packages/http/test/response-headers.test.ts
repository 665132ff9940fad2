// What is done to the headers of a response, at random, on node:http and on the engine: same results, errors and bytes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { createServer, engine } from '../src/index.ts';

const skip = engine().name === 'native' ? false : 'the addon is not built';
const servers = { node: http.createServer, engine: createServer as typeof http.createServer };
const methods = [
  'setHeader',
  'getHeader',
  'hasHeader',
  'removeHeader',
  'appendHeader',
  'getHeaderNames',
  'getRawHeaderNames',
  'getHeaders',
] as const;
const names: unknown[] = [
  'X-One',
  'x-one',
  'X-ONE',
  'X-Two',
  'Content-Type',
  'content-type',
  'ETag',
  'Vary',
  'x.y~z',
  'Content-Length',
  'Date',
  'Connection',
  'Transfer-Encoding',
  'Keep-Alive',
  'Set-Cookie',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '7',
  '1',
  '',
  'a b',
  'ü',
  'x:',
  'a\n',
  undefined,
  null,
  7,
  {},
  ['x-one'],
  Symbol('name'),
];
const values: unknown[] = [
  '',
  'a',
  'a, b',
  'x'.repeat(200),
  'é',
  '€',
  'a\r\nb: c',
  'a\tb',
  '\x7f',
  '\0',
  0,
  -1.5,
  Number.NaN,
  Infinity,
  true,
  null,
  undefined,
  ['a', 'b'],
  [],
  ['é'],
  ['a\n'],
  { toString: () => 'own' },
  7n,
  Symbol('value'),
];

const DATE = /\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT/;

type Methods = Record<string, (...given: unknown[]) => unknown>;
type Step = readonly [(typeof methods)[number], unknown, unknown];

function draw(seed: number): Step[] {
  let state = seed;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 8) % limit;
  };
  const steps = 3 + below(8);
  return Array.from({ length: steps }, () => {
    const method = methods[below(3) === 0 ? below(methods.length) : 0]!;
    return [method, names[below(names.length)], values[below(3) === 0 ? below(values.length) : 1]];
  });
}

/** The result of each step, and the bytes that the client gets. */
async function transcript(create: typeof http.createServer, cases: Step[][]): Promise<unknown[]> {
  const notes: unknown[][] = cases.map(() => []);
  const server = create((request, response) => {
    const number = Number(request.url!.slice(1));
    const note = (act: () => unknown): void => {
      try {
        const result = act();
        notes[number]!.push(result === response ? 'the response' : result);
      } catch (error) {
        const { name, code, message } = error as NodeJS.ErrnoException;
        notes[number]!.push([name, code, message]);
      }
    };
    const run = ([method, name, value]: Step): void =>
      note(() => (response as never as Methods)[method]!(name, own(value)));
    response.setHeader('Date', 'never');
    cases[number]!.forEach(run);
    note(() => response.end('body'));
    // Behind the head, each of them throws or reads.
    if (response.headersSent) cases[number]!.forEach(run);
    if (!response.writableEnded) response.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const received = await Promise.all(
    cases.map(async (_, number) => {
      const client = net.connect(port, '127.0.0.1');
      client.on('error', () => {});
      client.end(`GET /${number} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      return text(client).catch(() => 'lost');
    }),
  );
  server.close();
  await once(server, 'close');
  return cases.map((_, number) => [notes[number], received[number]!.replace(DATE, 'a date')]);
}

describe('headers of a response', { skip }, () => {
  test('400 random programs have the same results, errors and bytes as on Node', async () => {
    const cases = Array.from({ length: 400 }, (_, seed) => draw(seed + 1));
    const expected = await transcript(servers.node, cases);
    const actual = await transcript(servers.engine, cases);
    for (const [number, steps] of cases.entries()) {
      assert.deepEqual(actual[number], expected[number], `case ${number}: ${describeSteps(steps)}`);
    }
  });

  test('more names than are remembered', async () => {
    const cases = Array.from({ length: 60 }, (_, of): Step[] =>
      Array.from({ length: 20 }, (_one, at) => ['setHeader', `X-Many-${of}-${at}`, at]),
    );
    assert.deepEqual(
      await transcript(servers.engine, cases),
      await transcript(servers.node, cases),
    );
  });

  for (const method of ['getHeader', 'hasHeader', 'removeHeader', 'setHeader'] as const) {
    test(`a replaced ${method} is called as it was called`, async () => {
      const prototype = http.ServerResponse.prototype as never as Record<string, unknown>;
      const steps: Step[] = [
        ['setHeader', 'X-One', 'a'],
        [method, 'X-One', 'b'],
        ['appendHeader', 'X-Two', 'c'],
      ];
      const seen: Record<string, unknown[]> = { node: [], engine: [] };
      for (const [of, create] of Object.entries(servers)) {
        // Its code was compiled with the method as it was.
        await transcript(create, [steps]);
        const below = prototype[method] as (...given: unknown[]) => unknown;
        prototype[method] = function replaced(this: unknown, ...given: unknown[]) {
          const result = below.apply(this, given);
          seen[of]!.push([given, result === this ? 'the response' : result]);
          return result;
        };
        try {
          await transcript(create, [steps]);
        } finally {
          delete prototype[method];
        }
      }
      assert.ok(seen['node']!.length > 0);
      assert.deepEqual(seen['engine'], seen['node']);
    });
  }

  test('nothing is inherited by what a response keeps its headers in', async () => {
    const server = servers
      .engine((_, response) => {
        response.setHeader('X-One', 'a');
        const inherited = ['__proto__', 'constructor', 'toString', 'valueOf'];
        response.end(JSON.stringify(inherited.map((name) => typeof response.getHeader(name))));
      })
      .listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      headers: { connection: 'close' },
    });
    assert.deepEqual(await response.json(), Array(4).fill('undefined'));
    server.close();
    await once(server, 'close');
  });
});

/** Not shared: `appendHeader` adds to a list that was set. */
function own(value: unknown): unknown {
  return Array.isArray(value) ? [...value] : value;
}

function describeSteps(steps: Step[]): string {
  return steps.map(([method, ...given]) => `${method}(${given.map(String).join(', ')})`).join(' ');
}
