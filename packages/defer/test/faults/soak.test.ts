import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@redline/services/until';
import { temporaryFolder } from '../harness.ts';
import { kill, KeyServer, startApp, type Received } from './kill-trials.ts';

// 40,000 jobs in the test suite; `npm run soak:defer` sets 5 million.
const jobs = Number(process.env.REDLINE_DEFER_SOAK_JOBS ?? 40_000);
const jobsPerRequest = 50;
const requestsAtOnce = 4;
const samples = 20;
/* Of the last samples against the first. The heap at its lowest, as a collection finds more or less in use: two bytes for
   each of 5 million jobs would be seen. RSS at its highest: it grows in a few steps, when a backlog is the longest so far,
   and an allocator gives none of that back. */
const maxHeapBytes = 8 << 20;
const maxGrowthBytes = 64 << 20;
const looks = 5;
const segmentBytes = 1 << 20;

/* Every level, a sink that is away for a part of each lap, and jobs whose first try fails: what a server does in a day. */
test(`${jobs} jobs through HTTP: each arrives, and neither memory nor the journal grows`, async (t) => {
  const times = new Times(jobs);
  const server = new KeyServer(times);
  const url = await server.listen();
  t.after(() => server.close());
  const directory = temporaryFolder(t);
  const app = (await startApp({
    directory,
    level: 'process',
    sink: { url },
    segmentBytes,
    maxPending: 500,
    failEvery: 1_000,
  }))!;
  t.after(() => kill(app));
  const ask = async (what: string): Promise<Record<string, number>> =>
    (await (await fetch(`${app.url}/${what}`)).json()) as Record<string, number>;
  const depth = async (): Promise<number> => (await ask('depth'))['depth']!;

  const rss: number[] = [];
  const heap: number[] = [];
  const bytes: number[] = [];
  let next = 0;
  const send = async (end: number): Promise<void> => {
    while (next < end) {
      const first = next;
      next += jobsPerRequest;
      const { status } = await fetch(`${app.url}/burst/${first}/${jobsPerRequest}`);
      assert.equal(status, 200);
    }
  };
  const lap = Math.floor(jobs / samples / jobsPerRequest) * jobsPerRequest;
  for (let sample = 1; sample <= samples; sample++) {
    server.isUp = false;
    await together(() => send((sample - 1) * lap + lap / 5));
    server.isUp = true;
    await together(() => send(sample * lap));
    // However long it takes: as long as more of them arrive.
    for (let received = -1; received < times.received && (await depth()) > 0;) {
      received = times.received;
      await until('more of them', async () => {
        return times.received > received || (await depth()) === 0;
      });
    }
    await until('the end of the backlog', async () => (await depth()) === 0);
    // What a collection finds in use depends on what has just ended.
    const memory: Record<string, number>[] = [];
    for (let look = 0; look < looks; look++) {
      if (look > 0) await sleep(50);
      memory.push(await ask('rss'));
    }
    rss.push(memory[0]!['rss']!);
    heap.push(Math.min(...memory.map((each) => each['heap']!)));
    await until('the removal of what is done', () => bytesIn(directory) <= 4 * segmentBytes);
    bytes.push(bytesIn(directory));
  }
  const mebibytes = (values: readonly number[]): string =>
    values.map((value) => (value / 2 ** 20).toFixed(1)).join(' ');
  t.diagnostic(`RSS ${mebibytes(rss)} MiB`);
  t.diagnostic(`heap behind a collection: ${mebibytes(heap)} MiB`);
  t.diagnostic(`journal ${mebibytes(bytes)} MiB`);
  t.diagnostic(
    `${times.received} of ${lap * samples} arrived, ${times.again} of them more than once`,
  );
  assert.equal(times.received, lap * samples);
  const half = samples / 2;
  const growthOf = (values: readonly number[], edge: (...of: number[]) => number): number =>
    edge(...values.slice(half)) - edge(...values.slice(0, half));
  assert.ok(growthOf(heap, Math.min) < maxHeapBytes, 'the heap grows');
  assert.ok(growthOf(rss, Math.max) < maxGrowthBytes, 'the process grows');
});

async function together(work: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: requestsAtOnce }, work));
}

/** How often each key came, in a byte each: the keys are numbers. */
class Times implements Received {
  received = 0;
  again = 0;
  readonly #times: Uint8Array;

  constructor(keys: number) {
    this.#times = new Uint8Array(keys);
  }

  get(key: string): number {
    return this.#times[Number(key)]!;
  }

  set(key: string, times: number): void {
    this.#times[Number(key)] = times;
    if (times === 1) this.received++;
    else if (times === 2) this.again++;
  }
}

/** All files of the journal; the app removes some meanwhile. */
function bytesIn(directory: string): number {
  let bytes = 0;
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    const stat = statSync(join(directory, name), { throwIfNoEntry: false });
    if (stat?.isFile() === true) bytes += stat.size;
  }
  return bytes;
}
