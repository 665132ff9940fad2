import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { freePort } from '@redline/services';
import type { StairsResult } from '../../src/stairs/result.ts';
import { Workbench } from './run-cli.ts';
import { appFile, stairs } from './run-stairs.ts';
import { showsAllocation } from './shows-allocation.ts';
import { until } from '@redline/services/until';

test('redline stairs goes on without callbacks that would keep a client from its pool, and names them', async (t) => {
  const { code, stderr, bench } = await stairs(t, 'pool.cjs', '/callback', {
    args: ['--json', 'r.json'],
  });
  assert.equal(code, 0, stderr);
  const { leftOut, stages } = JSON.parse(bench.read('r.json')) as StairsResult;
  assert.deepEqual(
    leftOut.map(({ name }) => name),
    ['query(…)', 'onRows'],
  );
  for (const { reason } of leftOut) {
    assert.match(reason, /no longer responds after 32 requests ended there/);
  }
  assert.ok(stages.some(({ name }) => name.startsWith('getCallback after await')));
});

test('redline stairs gives a pool its clients back, and tells waiting from CPU', async (t) => {
  const { code, stderr, bench } = await stairs(t, 'pool.cjs', '/orders', {
    args: ['--json', 'r.json', '--max-stages', '100'],
    env: { POOL_FILE: 'pool.json' },
  });
  assert.equal(code, 0, stderr);
  const result = JSON.parse(bench.read('r.json')) as StairsResult;
  assert.deepEqual(result.leftOut, []);
  assert.deepEqual(JSON.parse(bench.read('pool.json')), { size: 8, free: 8 });
  const byWaiting = result.stages.toSorted((a, b) => b.waitingMs.value - a.waitingMs.value);
  // Behind the timers of the queries: of the user, of BEGIN, of the orders and of COMMIT.
  const place = byWaiting.findIndex(({ name }) => name === 'price');
  assert.ok(place >= 3, JSON.stringify(byWaiting.map((s) => [s.name, s.waitingMs])));
});

test(
  'redline stairs starts a running app once more, on another port',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const bench = new Workbench(t);
    const port = await freePort();
    const app = spawn(process.execPath, [appFile('chain.mjs')], {
      env: { ...process.env, PORT: String(port) },
    });
    t.after(() => app.kill());
    const url = `http://127.0.0.1:${port}/feed`;
    await until('the app listens', () =>
      fetch(url).then(
        (answer) => answer.ok,
        () => app.exitCode !== null,
      ),
    );
    const { code, stderr } = await bench.run([
      'stairs',
      url,
      '--seconds',
      '0.3',
      '--json',
      'r.json',
    ]);
    assert.equal(code, 0, stderr);
    assert.equal((JSON.parse(bench.read('r.json')) as StairsResult).stages.length, 10);
    assert.equal((await fetch(url)).status, 200);
  },
);

test('redline stairs shows the stage that allocates a Buffer of a megabyte for each request', async (t) => {
  await showsAllocation(t, 'buffer');
});

test('redline stairs takes bundled code apart without the getters of its exports', async (t) => {
  const { code, stderr, bench } = await stairs(t, 'bundled.cjs', '/feed', {
    args: ['--json', 'r.json'],
  });
  assert.equal(code, 0, stderr);
  const { stages } = JSON.parse(bench.read('r.json')) as StairsResult;
  assert.deepEqual(
    stages.map(({ name }) => name),
    ['parse HTTP', 'listener', 'pick', 'priceOf', 'respond', 'write answer'],
  );
});

test('redline stairs leaves out a stage on request, and says when it is never reached', async (t) => {
  const { code, stderr, bench } = await stairs(t, 'chain.cjs', '/fragile', {
    args: ['--skip', 'library(…)', '--skip', 'load', '--json', 'r.json'],
  });
  assert.equal(code, 0, stderr);
  const result = JSON.parse(bench.read('r.json')) as StairsResult;
  const reason = 'left out with --skip';
  assert.deepEqual(result.leftOut, [
    { name: 'library(…)', reason },
    { name: 'load', reason },
  ]);
  const unknown = await stairs(t, 'chain.mjs', '/', { args: ['--skip', 'nothing'] });
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /--skip "nothing" is never reached; the stages are handle, parse/);
});
