// One kind of job that fails or hangs, on one sink with another kind: through HTTP, the other is done all the same.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import express from 'express';
import { expressDefer } from '../../src/adapters/express.ts';
import { createDefer } from '../../src/create-defer.ts';
import { defer } from '../../src/defer.ts';
import { defineJob } from '../../src/job/job.ts';
import type { SinkQueueOptions } from '../../src/sink-queue/queue-options.ts';
import { batched, handlers } from '../../src/sinks/handlers.ts';
import type { Handler } from '../../src/sink.ts';
import { until } from '@redline/services/until';
import { listening, temporaryFolder } from '../harness.ts';

interface Bad {
  /** Those of one name keep their order. */
  readonly key: string;
  readonly n: number;
}

const maxPending = 40;
const badPerRequest = 10;
const requests = 100;

/** Each request defers ten bad jobs, half of them of one key, and a good one. */
async function start(
  t: TestContext,
  {
    bad,
    sinkOptions,
    hasJournal = true,
  }: { bad: Handler; sinkOptions?: Partial<SinkQueueOptions>; hasJournal?: boolean },
) {
  const good = new Set<number>();
  const deferrer = createDefer({
    sinks: {
      work: {
        sink: handlers({ bad, good: (n: number) => void good.add(n) }, { concurrency: 4 }),
        maxPending,
        batch: { jobs: 5 },
        retry: { attempts: 1_000_000, minMs: 20, maxMs: 20 },
        ...sinkOptions,
      },
    },
    ...(hasJournal && { journal: { directory: temporaryFolder(t) } }),
    handleSignals: false,
    logger: false,
  });
  t.after(() => deferrer.closeSync());
  const badJob = defineJob<Bad>('bad');
  const goodJob = defineJob<number>('good');
  const level = hasJournal ? 'process' : 'memory';
  const app = express();
  app.use(expressDefer(deferrer));
  app.post('/:n', (request, response) => {
    const n = Number(request.params.n);
    for (let each = 0; each < badPerRequest; each++) {
      const number = n * badPerRequest + each;
      const key = each % 2 === 0 ? 'shared' : `own-${number}`;
      defer(badJob, { key, n: number }, { key, level });
    }
    defer(goodJob, n, { key: `good-${n}`, level });
    response.json({ n });
  });
  const url = await listening(t, app);
  const post = async (n: number): Promise<number> =>
    (await fetch(`${url}/${n}`, { method: 'POST' })).status;
  return { deferrer, queue: deferrer.queues.get('work')!, good, post };
}

for (const ordered of ['key', false] as const) {
  test(`a kind that fails starves no other, and keeps its order, with ordered: ${ordered}`, async (t) => {
    let isBroken = true;
    const done: Bad[] = [];
    const { queue, good, post } = await start(t, {
      sinkOptions: { ordered },
      bad: (job: Bad) => {
        if (isBroken) throw new Error('its server is away');
        done.push(job);
      },
    });
    for (let n = 0; n < requests; n++) assert.equal(await post(n), 200);
    await until('the good ones', () => good.size === requests);
    assert.ok(queue.loaded <= maxPending);
    isBroken = false;
    await until('the bad ones', () => queue.depth === 0);
    assert.equal(done.length, requests * badPerRequest);
    if (ordered === false) return;
    const numbers = done.filter(({ key }) => key === 'shared').map(({ n }) => n);
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
    );
  });
}

const never = (): Promise<never> => new Promise(() => {});
const hanging: Readonly<Record<string, (done: number[], isBroken: () => boolean) => Handler>> = {
  handler: (done, isBroken) => (job: Bad) => (isBroken() ? never() : void done.push(job.n)),
  'batched handler': (done, isBroken) =>
    batched((jobs: Bad[]) => {
      if (isBroken()) return never();
      done.push(...jobs.map(({ n }) => n));
      return undefined;
    }),
};

for (const [what, make] of Object.entries(hanging)) {
  test(`a ${what} that hangs starves no other kind, and has its jobs when it works again`, async (t) => {
    let isBroken = true;
    const done: number[] = [];
    const { deferrer, queue, good, post } = await start(t, {
      sinkOptions: { sendTimeoutMs: 200 },
      bad: make(done, () => isBroken),
    });
    for (let n = 0; n < requests; n++) assert.equal(await post(n), 200);
    await until('the good ones', () => good.size === requests);
    isBroken = false;
    await until('the bad ones', () => queue.depth === 0);
    assert.equal(new Set(done).size, requests * badPerRequest);
    assert.equal(deferrer.deadLetters.size, 0);
  });
}

test('without a journal, those of a kind that hangs for which there is no room are dead letters', async (t) => {
  const { deferrer, good, post } = await start(t, {
    hasJournal: false,
    sinkOptions: { sendTimeoutMs: 200, maxPending: 100, retry: { attempts: 1_000_000, minMs: 20 } },
    bad: never,
  });
  let accepted = 0;
  await until('all requests', async () => {
    if ((await post(accepted)) === 200) accepted++;
    return accepted === requests;
  });
  await until('the good ones', () => good.size === requests);
  assert.ok(deferrer.deadLetters.size > 0);
});
