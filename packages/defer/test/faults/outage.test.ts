import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder, until } from '../harness.ts';
import { kill, KeyServer, Load, startApp } from './kill-trials.ts';

// 5 seconds in the test suite; `npm run test:faults` sets 120.
const seconds = Number(process.env.REDLINE_DEFER_OUTAGE_SECONDS ?? 5);
/** More than the warm-up of V8's heap and two bytes a job; less than the jobs of two minutes would take. */
const mostGrowthBytes = 40 << 20;

interface Depth {
  depth: number;
  rss: number;
}

test(`an outage of ${seconds} s under load: memory stays flat, and every job arrives`, async (t) => {
  const server = new KeyServer();
  const url = await server.listen();
  t.after(() => server.close());
  server.isUp = false;
  const app = await startApp({
    directory: temporaryFolder(t),
    level: 'process',
    sink: { url },
    segmentBytes: 1 << 20,
    maxPending: 500,
  });
  const ask = async (): Promise<Depth> =>
    (await fetch(`${app!.url}/depth`)).json() as Promise<Depth>;
  const load = new Load(app!.url, 8);
  await until('the load is warm', async () => (await ask()).depth > 1_500);
  const before = await ask();
  const end = performance.now() + seconds * 1_000;
  let most = before.rss;
  while (performance.now() < end) {
    await sleep(1_000);
    most = Math.max(most, (await ask()).rss);
  }
  await load.stop();
  const { depth } = await ask();
  t.diagnostic(
    `${depth} jobs wait; ${((most - before.rss) / 2 ** 20).toFixed(1)} MiB more in memory`,
  );
  assert.equal(load.refused, 0);
  assert.ok(depth >= load.acknowledged.size);
  assert.ok(most - before.rss < mostGrowthBytes, `${most - before.rss} bytes more`);
  server.isUp = true;
  // A long outage leaves many jobs: as long as more of them come, there is no hurry.
  for (let received = -1; (await ask()).depth > 0 && received < server.received.size;) {
    received = server.received.size;
    await until('more of them', async () => {
      return server.received.size > received || (await ask()).depth === 0;
    });
  }
  assert.ok([...load.acknowledged].every((id) => server.received.has(id)));
  await until('the end of the backlog', async () => (await ask()).depth === 0);
  await kill(app!);
});
