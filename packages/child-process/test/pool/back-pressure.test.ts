import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPool, rssBytes } from './pools.ts';

const megabyte = 2 ** 20;

for (const transport of ['send', 'socket'] as const) {
  describe(`100 MB of output over ${transport}`, () => {
    test('come whole to a slow reader, and neither side holds them in memory', async (t) => {
      const pool = openPool(t, { size: 1, transport });
      const child = pool.spawn('head', ['-c', String(100 * megabyte), '/dev/zero']);
      await once(child, 'spawn');
      const worker = pool.workerPids[0]!;
      const before = [rssBytes(process.pid), rssBytes(worker)];
      let length = 0;
      let reads = 0;
      for await (const chunk of child.stdout!) {
        length += chunk.length;
        if (++reads % 100 === 0) await sleep(10);
      }
      assert.equal(length, 100 * megabyte);
      const grown = [rssBytes(process.pid), rssBytes(worker)].map((rss, i) => rss - before[i]!);
      assert.ok(Math.max(...grown) < 80 * megabyte, `grew by ${grown} bytes`);
    });

    test('stop the child while nobody reads, and hold back no other child', async (t) => {
      const pool = openPool(t, { size: 1, transport });
      const paused = pool.spawn('head', ['-c', String(100 * megabyte), '/dev/zero']);
      await once(paused, 'spawn');
      paused.stdout!.once('readable', () => {});
      const other = pool.spawn('head', ['-c', String(10 * megabyte), '/dev/zero']);
      let length = 0;
      for await (const chunk of other.stdout!) length += chunk.length;
      assert.equal(length, 10 * megabyte);
      assert.equal(paused.exitCode, null);
      assert.ok(paused.stdout!.readableLength < megabyte, `${paused.stdout!.readableLength} bytes`);
      paused.stdout!.destroy();
      // Its next write fails, as with any reader that goes away.
      const [code] = await once(paused, 'close');
      assert.notEqual(code, 0);
    });
  });
}
