import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { freePort } from '@redline/services';
import type { StairsResult } from '../../src/stairs/result.ts';
import { type Finished, Workbench } from './run-cli.ts';

/** Takes an order once: the id of its path, its body and its key belong together, and never come again. */
const app = `
const { AsyncResource } = require('node:async_hooks');
const { createServer } = require('node:http');
const taken = new Set();
createServer(function listener(request, response) {
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (part) => { text += part; });
  // As the body parsers of frameworks do: the end of a body is told in the context of its connection.
  request.on('end', AsyncResource.bind(function take() {
    response.statusCode = place(request, text);
    response.end('order ' + request.url);
  }));
}).listen(process.env.PORT, process.env.HOST);
function place({ url, headers }, text) {
  const [, id] = /^\\/orders\\/(\\d{16})$/.exec(url) ?? [];
  const key = headers['idempotency-key'];
  if (id === undefined || !/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/.test(key)) return 400;
  const order = JSON.parse(text);
  if (String(order.id) !== id || order.key !== key || order.note !== '{{note}}') return 422;
  if (taken.has(id) || taken.has(key)) return 409;
  taken.add(id).add(key);
  return 201;
}
`;

async function order(
  t: TestContext,
  args: string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Finished & { bench: Workbench }> {
  const bench = new Workbench(t);
  bench.write('once.cjs', app);
  const [command, ...options] = args;
  const request = [
    '-XPOST',
    '-Hcontent-type: application/json',
    '-Hidempotency-key: {{uuid}}',
    '--body={"id":{{id}},"key":"{{uuid}}","note":"{{note}}"}',
  ];
  const url = `http://127.0.0.1:${await freePort()}/orders/{{id}}`;
  const server = ['--', process.execPath, 'once.cjs'];
  const all = [command!, url, ...request, ...options, '--json', 'r.json', ...server];
  return { ...(await bench.run(all, env)), bench };
}

/** Two blocks: on a busy machine nothing may be answered in one of them. */
const small = ['--restarts', '1', '--blocks', '2', '--warmup', '0.2', '--connections', '8'];

describe('a request that may succeed only once', () => {
  test('is another in each: redline bench', async (t) => {
    let hasSeveral = false;
    // One answer in a slice shows nothing, and a busy machine may leave it at that: of three runs, two may be such.
    for (let run = 0; run < 3 && !hasSeveral; run++) {
      const { code, stderr, bench } = await order(t, ['bench', ...small]);
      assert.equal(code, 0, stderr);
      const { load, warnings, slices } = bench.result('r.json');
      assert.deepEqual(load.requests, ['POST /orders/{{id}}']);
      // Those of the open loop, too.
      assert.doesNotMatch(warnings.join('\n'), /no valid response/);
      hasSeveral = slices.every(({ requests }) => requests > 1);
    }
    assert.ok(hasSeveral);
  });

  test('is another in each: redline bench without wrk', async (t) => {
    const { code, stderr, bench } = await order(t, ['bench', ...small], { PATH: '/nowhere' });
    assert.equal(code, 0, stderr);
    assert.match(bench.result('r.json').load.generator, /^redline/);
  });

  test('is another in each: redline stairs', async (t) => {
    const { code, stderr, bench } = await order(t, [
      'stairs',
      '--seconds',
      '0.3',
      '--warmup',
      '0.2',
    ]);
    assert.equal(code, 0, stderr);
    const { slices, stages, leftOut } = JSON.parse(bench.read('r.json')) as StairsResult;
    assert.ok(slices.every(({ failures }) => failures === 0));
    const names = stages.map(({ name }) => name);
    assert.ok(names.includes('place'), JSON.stringify({ names, leftOut }));
  });

  test('without it is refused the second time, and the message says so', async (t) => {
    const bench = new Workbench(t);
    bench.write('once.cjs', app);
    const url = `http://127.0.0.1:${await freePort()}/orders/1000000000000000`;
    const args = ['bench', url, '-X', 'POST', ...small, '--', process.execPath, 'once.cjs'];
    const { code, stderr } = await bench.run(args);
    assert.equal(code, 1);
    assert.match(stderr, /answers POST \/orders\/1000000000000000 with status 400/);
  });
});
