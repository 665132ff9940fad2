import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { startRedis } from '@redline/services';
import { race, type RaceResult } from './race.ts';

const server = await startRedis();
const skip = server === undefined && 'there is no redis-server on PATH';
after(() => server?.stop());

/* On a crowded machine a message between processes takes as long as it takes: this is for what stays stale. */
const boundMs = 1_000;
const timeoutMs = 5_000;
/* No measure of speed: a lease that nobody gives up hangs for 28 seconds. */
const hangsMs = 20_000;

describe('Three processes with tieredStore on one Redis', { skip }, () => {
  it('give nothing out that was invalidated before it was asked for', async () => {
    const { reads, writes, stale, slowestMs } = await race({ seconds: 2, boundMs, timeoutMs });
    assert.ok(reads > 100 && writes > 10, `${reads} reads, ${writes} writes`);
    assert.deepEqual(stale, []);
    assert.ok(slowestMs < hangsMs, `a read took ${slowestMs} ms`);
  });

  it('nor over a Cluster whose masters change places with their replicas', async () => {
    const { reads, writes, failovers, stale, slowestMs } = await race({
      seconds: 4,
      boundMs,
      timeoutMs,
      hasFailovers: true,
    });
    assert.ok(reads > 100 && writes > 10, `${reads} reads, ${writes} writes`);
    assert.ok(failovers > 0);
    assert.deepEqual(stale, []);
    assert.ok(slowestMs < hangsMs, `a read took ${slowestMs} ms`);
  });

  for (const without of ['tickets', 'leases'] as const)
    it(`do so without the ${without}, so this can fail`, async () => {
      let result: RaceResult | undefined;
      for (let tries = 0; tries < 15 && !result?.stale.length; tries++)
        result = await race({ seconds: 1, boundMs, timeoutMs, without });
      assert.notEqual(result?.stale.length, 0);
    });
});
