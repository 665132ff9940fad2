import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { startRedis, type RedisServer } from '@redline/services';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import * as current from 'bullmq';
import * as earlier from 'bullmq-6.5';
import { Redis } from 'ioredis';
import { bullmq } from '../../src/sinks/bullmq.ts';
import { bringAll, deliveries, delivery, host } from '../../src/testing/deliveries.ts';
import type { CleanUp, Message } from '../../src/testing/sink-contract.ts';
import { runContract } from './run-contract.ts';

const server = await startRedis({ settings: { appendonly: 'yes', appendfsync: 'always' } });
after(() => server?.stop());
const skip = server === undefined && 'there is no redis-server on PATH';
const { port } = (server ?? { port: 0 }) as RedisServer;
const connection = { host: '127.0.0.1', port };

const versions = [
  { version: '6.7.0', library: current },
  // The same classes as far as they are used here.
  { version: '6.5.4', library: earlier as unknown as typeof current },
];

for (const { version, library } of versions) {
  for (const lane of ['auto', 'bulk'] as const) {
    describe(`bullmq ${version}, lane ${lane}`, { skip }, () => {
      runContract({
        dedupes: true,
        async open(t) {
          const queue = openQueue(t, library);
          return {
            sink: () => bullmq(queue, { lane }),
            received: async () => (await queue.getWaiting(0, -1)).map(toMessage),
          };
        },
        // Only a stock queue can say no to a job: its parent does not exist.
        poison: { options: { parent: { id: 'nobody', queue: 'bull:nothing' } } },
        outage: { begin: () => server!.kill(), end: () => server!.restart() },
      });
    });
  }

  describe(`The lane for bullmq ${version}`, { skip }, () => {
    let client: Redis;
    before(() => (client = new Redis(port)));
    after(() => client.disconnect());

    const cases: [string, Record<string, unknown> | undefined, current.JobsOptions?][] = [
      ['no options', undefined],
      ['attempts and a backoff', { attempts: 3, backoff: { type: 'exponential', delay: 500 } }],
      ['a backoff that is a number', { attempts: 2, backoff: 700 }],
      ['what is to be removed', { removeOnComplete: true, removeOnFail: { age: 60 } }],
      ['logs and stack traces', { keepLogs: 5, stackTraceLimit: 3 }],
      ['defaults of the queue', { attempts: 2 }, { removeOnComplete: 100, attempts: 9 }],
    ];
    for (const [what, options, defaults] of cases) {
      it(`leaves in Redis what the queue's own add leaves, for ${what}`, async (t) => {
        const [mine, theirs] = [openQueue(t, library, defaults), openQueue(t, library, defaults)];
        const context = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
        const job = delivery({
          options,
          context,
          data: { text: 'ä"\\\n😀' },
          deferredAtMs: 1_790_000_000_000,
        });
        const sink = bullmq(mine);
        await sink.open!(host());
        t.after(() => sink.close!());
        const send = (): unknown => sink.send([job], AbortSignal.timeout(60_000));
        const add = (): unknown =>
          theirs.add(job.job, JSON.parse(job.json), {
            ...options,
            jobId: job.id,
            timestamp: job.deferredAtMs,
            telemetry: { metadata: JSON.stringify(context) },
          });
        // Twice: the second is a duplicate.
        for (const act of [send, send, add, add]) await act();
        assert.deepEqual(await dump(mine), await dump(theirs));
      });
    }

    it('leaves a paused queue paused, and a full one waiting', async (t) => {
      for (const prepare of [
        async (queue: current.Queue) => void (await queue.pause()),
        async (queue: current.Queue) => void (await queue.setGlobalConcurrency(0)),
      ]) {
        const [mine, theirs] = [openQueue(t, library), openQueue(t, library)];
        await Promise.all([mine, theirs].map(prepare));
        const job = delivery({ deferredAtMs: 1_790_000_000_000 });
        const sink = bullmq(mine);
        await sink.open!(host());
        t.after(() => sink.close!());
        await sink.send([job], AbortSignal.timeout(60_000));
        const timestamp = job.deferredAtMs;
        await theirs.add(job.job, JSON.parse(job.json), { jobId: job.id, timestamp });
        assert.deepEqual(await dump(mine), await dump(theirs));
      }
    });

    it(
      'feeds stock workers, who fail, try again and complete as ever',
      { timeout: 600_000 },
      async (t) => {
        const queue = openQueue(t, library);
        const sink = bullmq(queue);
        await sink.open!(host());
        t.after(() => sink.close!());
        const seen = new Map<number, number>();
        const { promise: done, resolve } = Promise.withResolvers<void>();
        const worker = new library.Worker(
          queue.name,
          async ({ data, attemptsMade }) => {
            seen.set(data.n, (seen.get(data.n) ?? 0) + 1);
            if (data.n % 10 === 0 && attemptsMade === 0) throw new Error('once');
            return data.n;
          },
          { connection, concurrency: 10 },
        );
        worker.on('error', () => {});
        t.after(() => worker.close());
        let completed = 0;
        worker.on('completed', () => {
          completed += 1;
          if (completed === 300) resolve();
        });
        const events = new library.QueueEvents(queue.name, { connection });
        t.after(() => events.close());
        await events.waitUntilReady();
        await bringAll(sink, deliveries(300, { options: { attempts: 2 } }));
        await done;
        assert.equal(seen.size, 300);
        assert.equal(seen.get(0), 2);
        assert.equal(seen.get(1), 1);
        const counts = await queue.getJobCounts(
          'waiting',
          'active',
          'failed',
          'completed',
          'delayed',
        );
        assert.deepEqual(counts, { waiting: 0, active: 0, failed: 0, completed: 300, delayed: 0 });
      },
    );

    it('is read by bull-board as any other queue', async (t) => {
      const queue = openQueue(t, library);
      const sink = bullmq(queue);
      await sink.open!(host());
      t.after(() => sink.close!());
      const jobs = deliveries(3, { options: { attempts: 4 } });
      await sink.send(jobs, AbortSignal.timeout(60_000));
      const adapter = new BullMQAdapter(queue);
      const board = createBullBoard({ queues: [adapter], serverAdapter: noServer() });
      t.after(() => board.removeQueue(adapter));
      assert.equal((await adapter.getJobCounts())['waiting'], 3);
      const shown = (await adapter.getJobs(['waiting'])).map((job) => job.toJSON());
      assert.deepEqual(shown.map(({ id }) => id).toSorted(), jobs.map(({ id }) => id).toSorted());
      for (const { name, data, opts, attemptsMade, timestamp } of shown) {
        assert.equal(name, 'send-mail');
        assert.equal(typeof (data as { n: number }).n, 'number');
        assert.equal(opts.attempts, 4);
        assert.equal(attemptsMade, 0);
        assert.ok(jobs.some(({ deferredAtMs }) => deferredAtMs === timestamp));
      }
      assert.equal(await (await adapter.getJob(jobs[0]!.id))?.getState(), 'waiting');
    });

    /** Everything under the queue's keys, without its name and the ids and times Redis gave. */
    async function dump(queue: current.Queue): Promise<Record<string, unknown>> {
      const all: Record<string, unknown> = {};
      const prefix = `bull:${queue.name}:`;
      for (const key of (await client.keys(`${prefix}*`)).toSorted()) {
        all[key.slice(prefix.length)] = await content(key);
      }
      return all;
    }

    async function content(key: string): Promise<unknown> {
      const type = await client.type(key);
      if (type === 'string') return client.get(key);
      if (type === 'list') return client.lrange(key, 0, -1);
      if (type === 'zset') return client.zrange(key, '0', '-1', 'WITHSCORES');
      if (type === 'stream') return (await client.xrange(key, '-', '+')).map(([, words]) => words);
      const hash = await client.hgetall(key);
      return hash['opts'] === undefined ? hash : { ...hash, opts: JSON.parse(hash['opts']) };
    }
  });
}

describe('bullmq', { skip }, () => {
  it('has addBulk take what the lane does not: delays, priorities, parents, deduplication', async (t) => {
    const queue = openQueue(t, current);
    const parents = openQueue(t, current);
    const parent = await parents.add('parent', {}, { delay: 60_000 });
    const sink = bullmq(queue);
    await sink.open!(host());
    t.after(() => sink.close!());
    const batch = [
      delivery({ data: { n: 0 } }),
      delivery({ data: { n: 1 }, options: { delay: 60_000 } }),
      delivery({ data: { n: 2 }, options: { priority: 5 } }),
      delivery({ data: { n: 3 }, options: { lifo: true } }),
      delivery({ data: { n: 4 }, options: { deduplication: { id: 'one' } } }),
      delivery({ data: { n: 5 }, options: { deduplication: { id: 'one' } } }),
      delivery({
        data: { n: 6 },
        options: { parent: { id: parent.id!, queue: parents.qualifiedName } },
      }),
    ];
    await sink.send(batch, AbortSignal.timeout(60_000));
    const of = async (state: 'waiting' | 'delayed' | 'prioritized'): Promise<number[]> =>
      (await queue.getJobs([state])).map(({ data }) => data.n).toSorted();
    assert.deepEqual(await of('waiting'), [0, 3, 4, 6]);
    assert.deepEqual(await of('delayed'), [1]);
    assert.deepEqual(await of('prioritized'), [2]);
    assert.equal((await queue.getJob(batch[6]!.id))!.parent?.id, parent.id);
  });

  it('goes through addBulk where the version was not tested', async (t) => {
    const queue = openQueue(t, current);
    Object.defineProperty(queue, 'metaValues', { value: { version: 'bullmq:99.0.0' } });
    let calls = 0;
    const { addBulk } = queue;
    queue.addBulk = (jobs) => {
      calls += 1;
      return addBulk.call(queue, jobs);
    };
    const sink = bullmq(queue);
    await sink.open!(host());
    t.after(() => sink.close!());
    await sink.send(deliveries(3), AbortSignal.timeout(60_000));
    assert.equal(calls, 1);
    assert.equal(await queue.getWaitingCount(), 3);
  });

  it('has every job tried again, and none dead, while Redis itself takes nothing', async (t) => {
    const queue = openQueue(t, current);
    const client = new Redis(connection);
    t.after(() => client.disconnect());
    const sink = bullmq(queue);
    await sink.open!(host());
    t.after(() => sink.close!());
    const batches = [deliveries(2), deliveries(2, { options: { delay: 60_000 } })];
    for (const batch of batches) await sink.send(batch, AbortSignal.timeout(60_000));
    for (const [setting, on, off, answer] of [
      ['min-replicas-to-write', '1', '0', /NOREPLICAS/],
      ['maxmemory', '1', '0', /OOM/],
    ] as const) {
      await client.config('SET', setting, on);
      try {
        for (const options of [undefined, { delay: 60_000 }]) {
          const batch = deliveries(2, { options });
          batches.push(batch);
          const sent = Promise.resolve(sink.send(batch, AbortSignal.timeout(60_000)));
          await assert.rejects(sent, answer);
        }
      } finally {
        await client.config('SET', setting, off);
      }
    }
    for (const batch of batches) await sink.send(batch, AbortSignal.timeout(60_000));
    assert.equal(await queue.getWaitingCount(), 6);
    assert.equal(await queue.getDelayedCount(), 6);
  });

  it('makes ids of any keys, and two of two', async (t) => {
    const queue = openQueue(t, current);
    const sink = bullmq(queue);
    await sink.open!(host());
    t.after(() => sink.close!());
    const keys = [
      '7',
      '0',
      '0:1',
      'a:b',
      'a%3Ab',
      'key~a',
      'ü',
      'with space',
      '"',
      "'",
      '7a',
      '-',
      '{}',
    ];
    await sink.send(
      keys.map((key) => delivery({ key })),
      AbortSignal.timeout(60_000),
    );
    assert.equal(await queue.getWaitingCount(), keys.length);
    for (const job of await queue.getWaiting()) assert.equal(job.opts.jobId, job.id);
  });

  it('refuses at the call what would be lost on the way', (t) => {
    const sink = bullmq(openQueue(t, current));
    assert.match(sink.refuses!('mail', { jobId: '7' })!, /give \{ key \}/);
    assert.match(sink.refuses!('mail', { repeat: { every: 5 } })!, /"repeat"/);
    assert.equal(sink.refuses!('mail', { delay: 5 }), undefined);
  });
});

function openQueue(
  t: CleanUp,
  library: typeof current,
  defaultJobOptions?: current.JobsOptions,
): current.Queue {
  const queue = new library.Queue(`q-${randomUUID()}`, {
    connection,
    ...(defaultJobOptions === undefined ? {} : { defaultJobOptions }),
  });
  queue.on('error', () => {});
  t.after(() => queue.close());
  return queue;
}

function toMessage(job: current.Job): Message {
  const { telemetry } = job.opts;
  return {
    job: job.name,
    data: job.data,
    id: job.id,
    ...(telemetry?.metadata === undefined ? {} : JSON.parse(telemetry.metadata)),
  };
}

/** The board's pages are not asked for: only what it reads of a queue. */
function noServer(): Parameters<typeof createBullBoard>[0]['serverAdapter'] {
  const adapter: Record<string, () => unknown> = {};
  for (const name of [
    'setQueues',
    'setViewsPath',
    'setStaticPath',
    'setEntryRoute',
    'setErrorHandler',
    'setApiRoutes',
    'setUIConfig',
  ]) {
    adapter[name] = () => adapter;
  }
  return adapter as never;
}
