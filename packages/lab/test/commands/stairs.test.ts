import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { freePort } from '@redline/services';
import type { StairsResult } from '../../src/stairs/result.ts';
import { Workbench } from './run-cli.ts';
import { appFile, stairs } from './run-stairs.ts';
import { showsAllocation } from './shows-allocation.ts';

/** Two routes that have only their beginning in common. */
const routes = `
const { createServer } = require('node:http');
createServer(function listener(request, response) {
  const user = authorise(request);
  response.end(request.url.startsWith('/users/') ? findUser(user) : findOrder(user));
}).listen(process.env.PORT, '127.0.0.1');
function authorise() { return { id: 1 }; }
function findUser(user) { return JSON.stringify(user); }
function findOrder(user) { return String(user.id); }
`;

function asked(start: string, times: number): string[] {
  return Array.from({ length: times }, (_, id) =>
    JSON.stringify({ req: { method: 'GET', url: `${start}${id}` }, res: { statusCode: 200 } }),
  );
}

describe('redline stairs', () => {
  test('finds a cost in the stage it is in, predicts without it, and fails for its budget', async (t) => {
    const bench = new Workbench(t);
    const port = await freePort();
    bench.write('budget.json', '{"schema":1,"unit":"µs","stages":{"price":50,"parse":1000}}');
    // prettier-ignore
    const { code, stdout, stderr } = await bench.run(
      ['stairs', `http://127.0.0.1:${port}/feed`, '--seconds', '0.3', '--warmup', '0.2', '--json', 'r.json', '--html', 'r.html',
        '--what-if', 'price=0', '--budget', 'budget.json', '--md', 'table.md', '--', process.execPath, appFile('chain.mjs')],
      { SPIN: '{"price":400}' },
    );
    assert.equal(code, 1, stderr);
    const result = JSON.parse(bench.read('r.json')) as StairsResult;
    assert.deepEqual(
      result.stages.map(({ name }) => name),
      // prettier-ignore
      ['parse HTTP', 'handle', 'parse', 'authorise', 'select', 'price', 'rank', 'render', 'send', 'write answer'],
    );
    const price = result.stages.find(({ name }) => name === 'price')!;
    // It spins; nobody else does.
    const byCost = result.stages.toSorted((one, other) => other.micros.value - one.micros.value);
    assert.equal(byCost[0], price, JSON.stringify(byCost.map((s) => [s.name, s.micros.value])));
    assert.match(price.place, /apps\/chain\.mjs:\d+$/);
    assert.ok(result.whatIf!.micros.value < result.whole.micros.value);
    assert.equal(result.budget!.rows.find(({ name }) => name === 'price')!.status, 'over');
    const { rounds } = result.precision;
    // Nine cuts, and the whole request twice.
    assert.equal(result.slices.length, rounds * 11);
    assert.match(stdout, /Over budget: price/);
    assert.match(bench.read('table.md'), /\| `price` \|.*\*\*over\*\*/);
    assert.match(bench.read('r.html'), /^<!doctype html>/i);
  });

  test('shows the stage that allocates a megabyte for each request', async (t) => {
    await showsAllocation(t, 'heap');
  });

  test('takes a variant and a request from a config, and says when a route needs authorisation', async (t) => {
    const bench = new Workbench(t);
    bench.writeConfig({
      variants: [{ name: 'app', command: [process.execPath, appFile('chain.cjs')] }],
    });
    const refused = await bench.run(['stairs', '--request', '/secret']);
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /GET \/secret answers 401: the route needs authorisation; send it with -H 'authorization/,
    );
    const wrong = await bench.run(['stairs', '--request', '/secret', '-H', 'authorization: no']);
    assert.match(wrong.stderr, /the credentials sent are not sufficient/);
    const variant = await bench.run(['stairs', '--variant', 'none']);
    assert.equal(variant.code, 2);
    assert.match(variant.stderr, /--variant "none" is not one of app/);
  });

  test('goes on without a stage that the app cannot be cut at, and names it', async (t) => {
    const { code, stderr, bench } = await stairs(t, 'chain.cjs', '/fragile', {
      args: ['--json', 'r.json'],
    });
    assert.equal(code, 0, stderr);
    const result = JSON.parse(bench.read('r.json')) as StairsResult;
    const left = result.leftOut.find(({ name }) => name === 'library(…)');
    assert.match(left!.reason, /^the app crashed when requests ended there: Error: broken by/);
    assert.ok(result.stages.every(({ name }) => name !== 'library(…)'));
  });

  test('sends headers and a token along, and keeps them out of what it writes', async (t) => {
    const { code, stdout, stderr, bench } = await stairs(t, 'chain.cjs', '/secret?token=s3cret', {
      args: [
        '-H',
        'authorization: Bearer open',
        '-H',
        'cookie: sid=sesame',
        '--json',
        'r.json',
        '--html',
        'r.html',
      ],
    });
    assert.equal(code, 0, stderr);
    for (const text of [stdout, stderr, bench.read('r.json'), bench.read('r.html')]) {
      assert.doesNotMatch(text, /s3cret|Bearer open|sesame/);
    }
    assert.match(bench.read('r.json'), /-H authorization: \*\*\*/);
  });

  test('says in one sentence what is wrong with an app or a route', async (t) => {
    const dead = await stairs(t, 'chain.cjs', '/', { env: { MODE: 'dies' } });
    assert.equal(dead.code, 1);
    assert.match(dead.stderr, /did not start: it exited with exit code 1[\s\S]*no database/);
    const missing = await stairs(t, 'express.cjs', '/nowhere');
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /GET \/nowhere answers 404: no such route/);
  });

  test('takes the requests of a log, and one route of them apart', async (t) => {
    const bench = new Workbench(t);
    bench.write('routes.cjs', routes);
    bench.write('access.log', [...asked('/users/', 12), ...asked('/orders/', 8)].join('\n'));
    bench.writeConfig({
      variants: [{ name: 'app', command: [process.execPath, 'routes.cjs'] }],
    });
    const replay = [
      'stairs',
      '--replay',
      'access.log',
      '--seconds',
      '0.3',
      '--warmup',
      '0.2',
      '--json',
      'r.json',
    ];
    const all = await bench.run(replay);
    assert.equal(all.code, 0, all.stderr);
    const shared = JSON.parse(bench.read('r.json')) as StairsResult;
    assert.deepEqual(
      shared.stages.map(({ name }) => name),
      ['parse HTTP', 'listener', 'authorise', 'write answer'],
    );
    assert.equal(shared.load.request, '20 requests of access.log');
    assert.match(all.stdout, /what 2 routes of access\.log have in common/);
    const one = await bench.run([...replay, '--route', '/users/:id']);
    assert.equal(one.code, 0, one.stderr);
    const { stages, load } = JSON.parse(bench.read('r.json')) as StairsResult;
    assert.deepEqual(
      stages.map(({ name }) => name),
      ['parse HTTP', 'listener', 'authorise', 'findUser', 'write answer'],
    );
    assert.equal(load.request, '12 requests of /users/:id in access.log');
  });

  test('says what is wrong with a log or a route of it', async (t) => {
    const bench = new Workbench(t);
    bench.write('access.log', asked('/users/', 2).join('\n'));
    bench.writeConfig({ variants: [{ name: 'app', command: 'node app.js' }] });
    const replay = ['--replay', 'access.log'];
    for (const [args, code, message] of [
      [['--replay', 'gone.log'], 2, /gone\.log cannot be read: no such file/],
      [['--route', '/users/:id'], 2, /--route \/users\/:id selects .*give the log with --replay/],
      [
        [...replay, '--route', '/carts'],
        2,
        /No request in access\.log matches .*are \/users\/:id\./,
      ],
      [[...replay, '--request', '/'], 2, /--request is for one request, but --replay brings/],
    ] as const) {
      const finished = await bench.run(['stairs', ...args]);
      assert.equal(finished.code, code, finished.stderr);
      assert.match(finished.stderr, message);
    }
  });

  test('refuses what it cannot start, before it starts anything', async (t) => {
    const bench = new Workbench(t);
    const url = `http://127.0.0.1:${await freePort()}/`;
    for (const [args, message] of [
      [
        [url],
        /Nothing listens on port \d+; start the app, or give the command that starts the app/,
      ],
      [['http://example.com/', '--', 'node', 'x'], /example\.com is another machine/],
      [['https://127.0.0.1/', '--', 'node', 'x'], /served over TLS/],
      [['config.ts', '--', 'node', 'x.js'], /A command goes with a URL/],
      [[url, '-H', 'nonsense', '--', 'node', 'x'], /-H "nonsense" is not a header/],
      [[url, '--what-if', 'x', '--', 'node', 'x'], /--what-if "x" is not STAGE=MICROS/],
      [[url, '--budget', 'none.json', '--', 'node', 'x'], /No budget at none\.json/],
    ] as const) {
      const { code, stderr } = await bench.run(['stairs', ...args]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, message);
    }
    assert.equal(existsSync(join(bench.folder, 'redline-out')), false);
  });
});
