import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StairsResult } from '../../src/stairs/result.ts';
import { stairs } from './run-stairs.ts';

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
