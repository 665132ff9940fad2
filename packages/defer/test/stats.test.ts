import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createDefer } from '../src/create-defer.ts';
import type { Deferrer } from '../src/deferrer.ts';
import { defineJob } from '../src/job/job.ts';
import type { SinkQueueOptions } from '../src/sink-queue/queue-options.ts';
import type { SinkStats } from '../src/sink-queue/sink-stats.ts';
import type { WaitReason } from '../src/sink-queue/sink-queue-view.ts';
import { prometheusMetrics } from '../src/adapters/prometheus.ts';
import { dead, retry } from '../src/sink.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestClock, TestSink, turns } from './harness.ts';

const mail = defineJob<unknown>('mail');
const bill = defineJob<unknown>('bill');

interface Setting {
  clock: TestClock;
  sink: TestSink;
  deferrer: Deferrer;
  stats: () => SinkStats;
}

function start(t: TestContext, sinkOptions: Partial<SinkQueueOptions> = {}): Setting {
  const clock = new TestClock();
  const sink = new TestSink();
  const deferrer = createDefer({
    sinks: { test: { sink, retry: { minMs: 1_000, maxMs: 1_000 }, ...sinkOptions } },
    clock,
    random: () => 1,
    handleSignals: false,
    logger: false,
  });
  t.after(() => deferrer.closeSync());
  return { clock, sink, deferrer, stats: () => deferrer.stats().sinks[0]! };
}

test('the jobs of each name are counted, with the age of the oldest and the last error', async (t) => {
  const { clock, sink, deferrer, stats } = start(t);
  sink.answer = (batch) =>
    batch.map(({ job, json }) => {
      if (job === 'mail') return undefined;
      return json === '0' ? dead(new Error('no such account')) : retry(new Error('too busy'));
    });
  deferrer.defer(mail, 1);
  const billedAtMs = clock.wall();
  deferrer.defer(bill, 0);
  deferrer.defer(bill, 1);
  await clock.pass(5);
  sink.isPaused = true;
  const mailedAtMs = clock.wall();
  deferrer.defer(mail, 2);
  await clock.pass(5);
  deferrer.defer(mail, 3);
  const [mails, bills] = stats().jobs;
  assert.deepEqual(mails, {
    job: 'mail',
    depth: 2,
    oldestAtMs: mailedAtMs,
    attempts: 1,
    failures: 0,
    dead: 0,
    lastFailure: undefined,
  });
  assert.equal(bills!.depth, 1);
  assert.equal(bills!.oldestAtMs, billedAtMs);
  assert.deepEqual([bills!.attempts, bills!.failures, bills!.dead], [2, 2, 1]);
  assert.match(bills!.lastFailure!.message, /^(no such account|too busy)$/);
  assert.ok(bills!.lastFailure!.atMs >= billedAtMs);
  const text = prometheusMetrics(deferrer);
  assert.match(text, /^redline_defer_job_depth\{sink="test",job="mail"\} 2$/m);
  assert.match(text, /^redline_defer_job_failures_total\{sink="test",job="bill"\} 2$/m);
  assert.match(text, /^redline_defer_job_attempts_total\{sink="test",job="bill"\} 2$/m);
});

test('names made of data are counted together once there are many', async (t) => {
  const { clock, deferrer, stats } = start(t);
  for (let n = 0; n < 1_000; n++) deferrer.defer(defineJob<number>(`order-${n}`), n);
  await clock.pass(5);
  assert.equal(stats().jobs.length, 201);
  assert.equal(
    stats().jobs.reduce((sum, { attempts }) => sum + attempts, 0),
    1_000,
  );
});

test('a job that is to run later counts once its time has come', async (t) => {
  const { clock, sink, deferrer, stats } = start(t);
  deferrer.defer(mail, 1, { delayMs: 60_000 });
  await clock.pass(5);
  assert.deepEqual([stats().depth, stats().delayed, stats().jobs[0]!.depth], [0, 1, 0]);
  assert.equal(stats().waiting, undefined);
  sink.isPaused = true;
  await clock.pass(60_010);
  assert.deepEqual([stats().depth, stats().delayed, stats().jobs[0]!.depth], [1, 0, 1]);
  sink.resume();
  await clock.pass(5);
  assert.deepEqual([stats().depth, stats().jobs[0]!.depth], [0, 0]);
});

test('a sink says why its jobs wait, and until when', async (t) => {
  const reasons: [WaitReason, Partial<SinkQueueOptions>, (setting: Setting) => Promise<void>][] = [
    [
      'unavailable',
      {},
      async ({ sink, deferrer, clock }) => {
        await clock.pass(0);
        sink.host!.available(false);
        deferrer.defer(mail, 1);
      },
    ],
    [
      'outage',
      {},
      async ({ sink, deferrer, clock }) => {
        sink.answer = () => {
          throw new Error('connection refused');
        };
        deferrer.defer(mail, 1);
        await clock.pass(5);
      },
    ],
    [
      'ordered',
      { ordered: true },
      async ({ sink, deferrer, clock }) => {
        sink.answer = (batch) => batch.map(() => retry(new Error('locked')));
        deferrer.defer(mail, 1);
        deferrer.defer(mail, 2);
        await clock.pass(5);
      },
    ],
    [
      'rate',
      { rate: { jobs: 1, perMs: 60_000 } },
      async ({ deferrer, clock }) => {
        deferrer.defer(mail, 1);
        deferrer.defer(mail, 2);
        await clock.pass(5);
      },
    ],
    [
      'in-flight',
      { inFlight: 1 },
      async ({ sink, deferrer, clock }) => {
        sink.isPaused = true;
        deferrer.defer(mail, 1);
        await clock.pass(5);
        deferrer.defer(mail, 2);
        await clock.pass(5);
      },
    ],
    [
      'key',
      { ordered: 'key' },
      async ({ sink, deferrer, clock }) => {
        sink.isPaused = true;
        deferrer.defer(mail, 1, { key: 'ada' });
        deferrer.defer(mail, 2, { key: 'ada' });
        await clock.pass(5);
      },
    ],
    [
      'retry',
      {},
      async ({ sink, deferrer, clock }) => {
        sink.answer = (batch) => batch.map(() => retry(new Error('locked')));
        deferrer.defer(mail, 1);
        await clock.pass(5);
      },
    ],
  ];
  for (const [reason, sinkOptions, makeWait] of reasons) {
    const setting = start(t, sinkOptions);
    assert.equal(setting.stats().waiting, undefined, reason);
    await makeWait(setting);
    await turns();
    const { waiting } = setting.stats();
    assert.equal(waiting?.reason, reason);
    assert.ok(waiting.sentence.length > 0);
    if (reason === 'outage') assert.match(waiting.sentence, /connection refused/);
    if (reason === 'ordered') assert.match(waiting.sentence, /mail .* failed \(locked\)/);
    const isTimed = ['outage', 'ordered', 'rate', 'retry'].includes(reason);
    assert.equal(waiting.untilMs !== undefined, isTimed, reason);
    if (isTimed) assert.ok(waiting.untilMs! > setting.clock.wall(), reason);
    const text = prometheusMetrics(setting.deferrer);
    assert.match(
      text,
      new RegExp(`^redline_defer_waiting\\{sink="test",reason="${reason}"\\} 1$`, 'm'),
    );
    assert.equal(text.match(/^redline_defer_waiting\{sink="test".* 1$/gm)?.length, 1);
  }
});

test('jobs on disk alone are counted by name, those of an ended process too', async (t) => {
  const directory = temporaryFolder(t);
  const open = (sink: TestSink): Deferrer =>
    createDefer({
      sinks: { test: { sink, maxPending: 10, inFlight: 1, batch: { waitMs: 0 } } },
      journal: { directory, adoptEveryMs: 5 },
      level: 'process',
      handleSignals: false,
      logger: false,
    });
  const depths = (deferrer: Deferrer): Record<string, number> =>
    Object.fromEntries(deferrer.stats().sinks[0]!.jobs.map(({ job, depth }) => [job, depth]));
  const stuck = new TestSink();
  stuck.isPaused = true;
  const first = open(stuck);
  await first.ready();
  const deferred = Array.from({ length: 60 }, (_, n) => first.defer(n % 3 === 0 ? bill : mail, n));
  await Promise.all(deferred.map((job) => job.acknowledged()));
  assert.deepEqual(depths(first), { bill: 20, mail: 40 });
  assert.ok(first.stats().sinks[0]!.jobs.every(({ oldestAtMs }) => oldestAtMs! <= Date.now()));
  await first.close({ drainMs: 0 });

  const sink = new TestSink();
  sink.isPaused = true;
  const second = open(sink);
  t.after(() => second.close({ drainMs: 0 }));
  await second.ready();
  assert.deepEqual(depths(second), { bill: 20, mail: 40 });
  await until('some of them are read', () => second.stats().sinks[0]!.loaded > 0);
  assert.deepEqual(depths(second), { bill: 20, mail: 40 });
  sink.resume();
  await until('all of them are sent', () => second.stats().sinks[0]!.depth === 0);
  assert.deepEqual(depths(second), { bill: 0, mail: 0 });
});
