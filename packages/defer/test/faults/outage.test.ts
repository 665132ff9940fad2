import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@redline/services/until';
import { temporaryFolder } from '../harness.ts';
import { kill, KeyServer, Load, startApp } from './kill-trials.ts';

// 5 seconds in the test suite; `npm run test:faults` sets 120.
const seconds = Number(process.env.REDLINE_DEFER_OUTAGE_SECONDS ?? 5);
/** More than the warm-up of V8's heap and two bytes a job; less than the jobs of two minutes would take. */
const maxGrowthBytes = 40 << 20;

test(`an outage of ${seconds} s under load: memory stays flat, and every job arrives`, async (t) => {
  const server = new KeyServer(new Map<string, number>());
  const url = await server.listen();
  t.after(() => server.close());
  const app = await startApp({
    directory: temporaryFolder(t),
    level: 'process',
    sink: { url },
    segmentBytes: 1 << 20,
    maxPending: 500,
    // Ten minutes of what a fast machine takes are more than the default: a full journal refuses, and rightly so.
    maxBytes: 16 * 2 ** 30,
  });
  t.after(() => app && kill(app));
  const ask = async (what: 'depth' | 'rss'): Promise<number> =>
    ((await (await fetch(`${app!.url}/${what}`)).json()) as Record<string, number>)[what]!;
  const load = new Load(app!.url, 8);
  await until('the load is warm', () => load.tookMs.length > 4_000);
  const medianBefore = median(load.tookMs.splice(0).slice(-2_000));
  server.isUp = false;
  await until('the jobs spill', async () => (await ask('depth')) > 1_500);
  const before = await ask('rss');
  const end = performance.now() + seconds * 1_000;
  let peak = before;
  while (performance.now() < end) {
    await sleep(1_000);
    peak = Math.max(peak, await ask('rss'));
  }
  await load.stop();
  const depth = await ask('depth');
  const mebibytes = ((peak - before) / 2 ** 20).toFixed(1);
  t.diagnostic(
    `${depth} jobs wait; ${mebibytes} MiB more in memory; the median request took ${median(load.tookMs)} ms, and ${medianBefore} ms before`,
  );
  assert.equal(load.refused, 0);
  const waited = [...load.acknowledged].filter((id) => !server.received.has(id));
  assert.ok(depth >= waited.length, `${waited.length} have not arrived`);
  assert.ok(peak - before < maxGrowthBytes, `${peak - before} bytes more`);
  server.isUp = true;
  // A long outage leaves many jobs: as long as more of them come, there is no hurry.
  for (let received = -1; (await ask('depth')) > 0 && received < server.received.size;) {
    received = server.received.size;
    await until('more of them', async () => {
      return server.received.size > received || (await ask('depth')) === 0;
    });
  }
  assert.ok([...load.acknowledged].every((id) => server.received.has(id)));
  await until('the end of the backlog', async () => (await ask('depth')) === 0);
});

/** For the log: a test asserts nothing about time. */
function median(values: readonly number[]): string {
  return (values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN).toFixed(2);
}
