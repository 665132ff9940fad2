import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, test, type TestContext } from 'node:test';
import { inspect } from 'node:util';
import { createDefer } from '../../src/create-defer.ts';
import type { Deferrer } from '../../src/deferrer.ts';
import { defineJob } from '../../src/job/job.ts';
import type { SinkQueueOptions } from '../../src/sink-queue/queue-options.ts';
import type { SinkQueue } from '../../src/sink-queue/sink-queue.ts';
import type { DeferOptions } from '../../src/options.ts';
import { dead, retry } from '../../src/sink.ts';
import { handlers } from '../../src/sinks/handlers.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestClock, TestLogger, TestSink, turns } from '../harness.ts';

const job = defineJob<unknown>('job');

interface Bench {
  readonly deferrer: Deferrer;
  readonly sink: TestSink;
  readonly queue: SinkQueue;
  readonly clock: TestClock;
  readonly logger: TestLogger;
  add(...data: unknown[]): void;
}

function bench(
  t: TestContext,
  sinkOptions: Partial<SinkQueueOptions> = {},
  options: Partial<DeferOptions> = {},
): Bench {
  const sink = new TestSink();
  const clock = new TestClock();
  const logger = new TestLogger();
  const deferrer = createDefer<string>({
    sinks: { test: { sink, ...sinkOptions } },
    clock,
    logger,
    random: () => 1,
    handleSignals: false,
    ...options,
  });
  t.after(async () => {
    sink.resume();
    sink.answer = () => undefined;
    deferrer.closeSync();
  });
  return {
    deferrer,
    sink,
    clock,
    logger,
    queue: deferrer.queues.get('test')!,
    add: (...data) => {
      for (const each of data) deferrer.defer(job, each);
    },
  };
}

describe('a batch leaves', () => {
  test('when its first job has waited', async (t) => {
    const { sink, clock, add } = bench(t, { batch: { waitMs: 5 } });
    add(1);
    await clock.pass(3);
    add(2);
    assert.deepEqual(sink.data, []);
    await clock.pass(2);
    assert.deepEqual(sink.data, [1, 2]);
    assert.equal(sink.batches.length, 1);
  });

  test('when it has enough jobs', async (t) => {
    const { sink, add } = bench(t, { batch: { jobs: 3, waitMs: 1_000 } });
    add(1, 2);
    await turns();
    assert.equal(sink.batches.length, 0);
    add(3, 4);
    await turns();
    assert.deepEqual(
      sink.batches.map((batch) => batch.length),
      [3],
    );
  });

  test('when it has enough bytes, and with no more than that', async (t) => {
    const { sink, add } = bench(t, { batch: { bytes: 10, waitMs: 1_000 } });
    add('12', '34', '56');
    await turns();
    assert.deepEqual(
      sink.batches.map((batch) => batch.length),
      [2],
    );
  });

  test('with no more than the sink takes', async (t) => {
    const sink = Object.assign(new TestSink(), { maxJobs: 2 });
    const { clock, deferrer } = bench(t, {}, { sinks: { test: sink } });
    for (let n = 0; n < 5; n++) deferrer.defer(job, n);
    await clock.pass(10);
    assert.deepEqual(
      sink.batches.map((batch) => batch.length),
      [2, 2, 1],
    );
  });

  test('at once for the level sink', async (t) => {
    const { sink, deferrer } = bench(t, { batch: { waitMs: 1_000 } });
    await deferrer.defer(job, 1, { level: 'sink' }).acknowledged();
    assert.deepEqual(sink.data, [1]);
  });

  test('while others are on their way, up to inFlight', async (t) => {
    const { sink, clock, add } = bench(t, { inFlight: 2, batch: { jobs: 1, waitMs: 0 } });
    sink.isPaused = true;
    add(1, 2, 3);
    await clock.pass(0);
    assert.equal(sink.batches.length, 2);
    sink.resume();
    await turns();
    assert.deepEqual(sink.data, [1, 2, 3]);
  });
});

describe('a job that fails', () => {
  test('is tried again after a growing wait, and is a dead letter in the end', async (t) => {
    const { sink, clock, queue, deferrer, add } = bench(t, {
      batch: { waitMs: 0 },
      retry: { attempts: 3, minMs: 100, factor: 2 },
    });
    sink.answer = (batch) => batch.map(() => retry(new Error('not today')));
    add('x');
    await clock.pass(99);
    assert.equal(sink.batches.length, 1);
    await clock.pass(1);
    assert.equal(sink.batches.length, 2);
    await clock.pass(200);
    assert.deepEqual(
      sink.batches.flat().map(({ attempt, redelivered }) => [attempt, redelivered]),
      [
        [3, true],
        [3, true],
        [3, true],
      ],
      'one job, seen three times',
    );
    await clock.pass(10_000);
    assert.equal(sink.batches.length, 3);
    assert.equal(queue.stats.retried, 2);
    assert.equal(queue.stats.dead, 1);
    assert.equal(queue.depth, 0);
    const [letter] = await deferrer.deadLetters.list();
    assert.match(letter!.reason, /not today/);
    assert.equal(letter!.record.json, '"x"');
  });

  test('waits as long as the sink asks for', async (t) => {
    const { sink, clock, add } = bench(t, { batch: { waitMs: 0 }, retry: { minMs: 10 } });
    sink.answer = (batch) =>
      sink.batches.length === 1 ? batch.map(() => retry('busy', 5_000)) : undefined;
    add('x');
    await clock.pass(4_999);
    assert.equal(sink.batches.length, 1);
    await clock.pass(1);
    assert.equal(sink.batches.length, 2);
  });

  test('for good is a dead letter at once, and the others of its batch are through', async (t) => {
    const { sink, clock, queue, deferrer, add } = bench(t);
    sink.answer = (batch) => batch.map(({ json }) => (json === '2' ? dead('refused') : undefined));
    add(1, 2, 3);
    await clock.pass(5);
    assert.equal(queue.stats.sent, 2);
    assert.equal(queue.stats.dead, 1);
    assert.equal(deferrer.deadLetters.size, 1);
  });

  test('can be requeued, and removed', async (t) => {
    const { sink, clock, deferrer, add } = bench(t);
    sink.answer = (batch) => batch.map(() => dead('no'));
    add(1, 2);
    await clock.pass(5);
    const letters = await deferrer.deadLetters.list();
    assert.deepEqual(
      letters.map(({ record }) => record.json),
      ['1', '2'],
    );
    sink.answer = () => undefined;
    assert.equal(await deferrer.deadLetters.remove(letters[0]!.record.id), true);
    assert.equal(await deferrer.deadLetters.requeue(letters[0]!.record.id), false);
    assert.equal(await deferrer.deadLetters.requeueAll({ job: 'job' }), 1);
    await clock.pass(5);
    assert.deepEqual(sink.data, [1, 2, 2]);
    assert.deepEqual(await deferrer.deadLetters.list(), []);
  });

  test('rejects who waits for the level sink', async (t) => {
    const { sink, deferrer } = bench(t);
    sink.answer = (batch) => batch.map(() => dead(new Error('no such queue')));
    await assert.rejects(deferrer.defer(job, 1, { level: 'sink' }).acknowledged(), {
      code: 'ERR_REDLINE_DEFER_DEAD',
      cause: new Error('no such queue'),
    });
  });

  test('is no reason to keep more dead letters than maxDeadLetters', async (t) => {
    const { sink, clock, queue, deferrer, add } = bench(t, {}, { maxDeadLetters: 10 });
    sink.answer = (batch) => batch.map(() => dead('no'));
    for (let n = 0; n < 30; n++) {
      add(n);
      await clock.pass(5);
    }
    assert.ok(deferrer.deadLetters.size <= 10);
    assert.equal(queue.stats.dropped['dead-letters-full'], 30 - deferrer.deadLetters.size);
    assert.equal((await deferrer.deadLetters.list()).at(-1)!.record.json, '29');
  });
});

describe('a sink that is not there', () => {
  test('costs no attempts, is left alone, and gets everything in order when it is back', async (t) => {
    const { sink, clock, queue, logger, add } = bench(t, {
      batch: { waitMs: 0 },
      breaker: { failures: 2, minMs: 100, maxMs: 400 },
      retry: { attempts: 1 },
    });
    sink.answer = () => {
      throw new Error('connection refused');
    };
    add(1, 2);
    await clock.pass(0);
    await clock.pass(100);
    assert.equal(queue.isBreakerOpen, true);
    add(3);
    await clock.pass(199);
    assert.equal(sink.batches.length, 2, 'nothing is sent while the breaker is open');
    await clock.pass(1);
    assert.equal(sink.batches.length, 3, 'one probe');
    sink.answer = () => undefined;
    sink.batches.length = 0;
    await clock.pass(400);
    assert.deepEqual(sink.data, [1, 2, 3]);
    assert.deepEqual(
      sink.batches.flat().map(({ attempt }) => attempt),
      [1, 1, 1],
    );
    assert.equal(queue.stats.dead, 0);
    assert.equal(queue.stats.failures, 3);
    assert.equal(queue.isBreakerOpen, false);
    assert.equal(logger.lines.length, 2);
    assert.match(logger.lines[0]!, /unavailable/);
    assert.match(logger.lines[1]!, /available again after \d+ ms\.$/);
  });

  test('is not sent to while it says so itself', async (t) => {
    const { sink, clock, add } = bench(t);
    await turns();
    sink.host!.available(false);
    add(1);
    await clock.pass(60_000);
    assert.equal(sink.batches.length, 0);
    sink.host!.available(true);
    await clock.pass(5);
    assert.deepEqual(sink.data, [1]);
  });

  test('is one that does not answer in time', async (t) => {
    const { sink, clock, queue, add } = bench(t, { sendTimeoutMs: 1_000 });
    sink.isPaused = true;
    add(1);
    await clock.pass(1_005);
    assert.equal(queue.stats.failures, 1);
    sink.resume();
    await clock.pass(200);
    assert.equal(queue.stats.sent, 1);
    assert.equal(sink.batches[1]![0]!.redelivered, true);
  });

  test('is not one that says in time which jobs hang: they alone are tried again', async (t) => {
    const done: string[] = [];
    const sink = handlers(
      {
        job: (data: string) => {
          done.push(data);
          if (data.startsWith('hangs')) return new Promise(() => {});
        },
      },
      { concurrency: 2 },
    );
    const { deferrer, clock } = bench(
      t,
      {},
      {
        sinks: { test: { sink, sendTimeoutMs: 100, retry: { attempts: 2, minMs: 1, maxMs: 1 } } },
      },
    );
    for (const data of ['a', 'hangs 1', 'b', 'hangs 2', 'c']) deferrer.defer(job, data);
    await clock.pass(10_000);
    assert.deepEqual(
      ['a', 'b', 'c'].map((data) => done.filter((each) => each === data).length),
      [1, 1, 1],
    );
    const { stats } = deferrer.queues.get('test')!;
    assert.deepEqual([stats.sent, stats.dead, stats.failures], [3, 2, 0]);
  });

  test('is one that answers with what is no result', async (t) => {
    for (const answer of [null, { id: 1 }, 'ok']) {
      const { sink, clock, queue, add } = bench(t);
      sink.answer = (batch) => batch.map(() => answer as never);
      add(1);
      await clock.pass(5);
      assert.equal(queue.stats.failures, 1);
      assert.equal(queue.depth, 1);
    }
  });

  test('is one that answers with the wrong number of results', async (t) => {
    const { sink, clock, queue, add } = bench(t);
    sink.answer = () => [undefined];
    add(1, 2);
    await clock.pass(5);
    assert.equal(queue.stats.failures, 1);
    assert.equal(queue.depth, 2);
  });
});

test('a rate of less than a job is none: nothing would ever go', () => {
  const rate = { jobs: 0.5, perMs: 1_000 };
  assert.throws(() => createDefer({ sinks: { test: { sink: new TestSink(), rate } } }), {
    code: 'ERR_REDLINE_DEFER_OPTION',
  });
});

test('a rate holds jobs back, and lets as many go as it says', async (t) => {
  const { sink, clock, add } = bench(t, { batch: { waitMs: 0 }, rate: { jobs: 10, perMs: 1_000 } });
  add(...Array.from({ length: 30 }, (_, n) => n));
  await clock.pass(0);
  assert.equal(sink.data.length, 10);
  await clock.pass(1_000);
  assert.ok(sink.data.length >= 19 && sink.data.length <= 20, String(sink.data.length));
  await clock.pass(1_100);
  assert.equal(sink.data.length, 30);
});

describe('order', () => {
  test('true: one batch at a time, and a job that fails holds up those behind it', async (t) => {
    const { sink, clock, add } = bench(t, {
      ordered: true,
      batch: { jobs: 2, waitMs: 0 },
      retry: { minMs: 100 },
    });
    let failures = 1;
    sink.answer = (batch) => {
      if (!batch.some(({ json }) => json === '1') || failures-- === 0) return undefined;
      return batch.map(() => retry('not yet'));
    };
    add(1, 2, 3, 4);
    await clock.pass(99);
    assert.deepEqual(sink.data, [1, 2]);
    await clock.pass(1);
    assert.deepEqual(sink.data, [1, 2, 1, 2, 3, 4]);
    assert.deepEqual(
      sink.batches[1]!.map(({ attempt }) => attempt),
      [2, 1],
    );
  });

  test('true: holds too where some jobs were spilled and others are not', async (t) => {
    const { sink, clock, add } = bench(
      t,
      { ordered: true, maxPending: 4, batch: { jobs: 1, waitMs: 0 } },
      { journal: { directory: temporaryFolder(t) } },
    );
    sink.isPaused = true;
    let n = 0;
    while (n < 30) add(n++);
    await turns();
    sink.resume();
    while (n < 200) {
      add(n++);
      if (n % 3 === 0) await clock.pass(1);
    }
    await until('all of them', async () => {
      await clock.pass(1);
      return sink.data.length >= n;
    });
    assert.deepEqual(
      sink.data,
      Array.from({ length: n }, (_, at) => at),
    );
  });

  test("'key': jobs of one key keep theirs, others overtake", async (t) => {
    const { sink, clock, deferrer, queue } = bench(t, {
      ordered: 'key',
      batch: { waitMs: 0 },
      retry: { minMs: 100 },
    });
    let failures = 1;
    sink.answer = (batch) =>
      batch.map(({ json }) => (json === '"a1"' && failures-- > 0 ? retry('not yet') : undefined));
    for (const data of ['a1', 'a2', 'b1', 'a3', 'b2']) deferrer.defer(job, data, { key: data[0]! });
    await clock.pass(50);
    assert.deepEqual(sink.data, ['a1', 'b1', 'b2']);
    await clock.pass(50);
    assert.deepEqual(sink.data, ['a1', 'b1', 'b2', 'a1', 'a2', 'a3']);
    assert.equal(queue.depth, 0);
  });
});

describe('a full queue', () => {
  const full = { maxPending: 3, batch: { waitMs: 0, jobs: 1 }, inFlight: 1 };

  test("'reject': the call throws, and is counted", async (t) => {
    const { sink, queue, add } = bench(t, { ...full, overflow: 'reject' });
    sink.isPaused = true;
    add(1, 2, 3);
    assert.throws(() => add(4), { code: 'ERR_REDLINE_DEFER_FULL' });
    assert.equal(queue.stats.rejected, 1);
    sink.resume();
    await turns();
    assert.deepEqual(sink.data, [1, 2, 3]);
  });

  test("'drop-oldest': the oldest that is not on its way goes, and is counted", async (t) => {
    const { sink, queue, add } = bench(t, { ...full, overflow: 'drop-oldest' });
    sink.isPaused = true;
    add(1);
    await turns();
    add(2, 3, 4, 5);
    sink.resume();
    await turns();
    await turns();
    assert.deepEqual(sink.data, [1, 4, 5]);
    assert.equal(queue.stats.dropped.overflow, 2);
  });

  test("'block': the acknowledgement waits for room", async (t) => {
    const { sink, deferrer, add } = bench(t, { ...full, overflow: 'block' });
    sink.isPaused = true;
    add(1, 2, 3);
    const last = deferrer.defer(job, 4).acknowledged();
    await turns();
    assert.match(inspect(last), /pending/);
    sink.resume();
    await last;
    await turns();
    assert.deepEqual(sink.data, [1, 2, 3, 4]);
  });

  test("'block': not for ever", async (t) => {
    const { sink, clock, deferrer, add } = bench(t, { ...full, overflow: 'block' });
    sink.isPaused = true;
    add(1, 2, 3);
    const last = deferrer.defer(job, 4).acknowledged();
    const rejected = assert.rejects(last, { code: 'ERR_REDLINE_DEFER_NOT_ACKNOWLEDGED' });
    await clock.pass(5_000);
    await rejected;
  });

  test("'spill': the rest is on disk, and comes back in order", async (t) => {
    const directory = temporaryFolder(t);
    const { sink, queue, clock, add } = bench(
      t,
      { ...full, maxPending: 4, overflow: 'spill' },
      { journal: { directory } },
    );
    sink.isPaused = true;
    const all = Array.from({ length: 100 }, (_, n) => n);
    add(...all);
    await turns();
    assert.equal(queue.depth, 100);
    assert.equal(queue.loaded, 4);
    assert.equal(queue.stats.spilled, 96);
    sink.resume();
    await until('all of them', async () => {
      await clock.pass(1);
      return sink.data.length >= 100;
    });
    assert.deepEqual(sink.data, all);
    assert.equal(queue.depth, 0);
  });
});

test('draining waits for no full batch, and what comes afterwards is gathered again', async (t) => {
  const { sink, clock, deferrer, add } = bench(t, { batch: { waitMs: 1_000 } });
  add(1);
  await deferrer.drain();
  assert.deepEqual(sink.data, [1]);
  add(2);
  await clock.pass(999);
  add(3);
  await clock.pass(1);
  assert.equal(sink.batches.length, 2);
});

test('a batch is sent outside of the request that happened to wake the queue', async (t) => {
  const request = new AsyncLocalStorage<string>();
  const { sink, clock, add } = bench(t);
  const seen: unknown[] = [];
  sink.answer = () => void seen.push(request.getStore());
  request.run('ada', () => add(1));
  await clock.pass(5);
  assert.deepEqual(seen, [undefined]);
});

test('a sink that never opens, or never closes, keeps the deferrer from closing for a moment alone', async (t) => {
  const directory = temporaryFolder(t);
  const logger = new TestLogger();
  const never = (): Promise<void> => new Promise(() => {});
  const hangs = { kind: 'hangs', open: never, close: never, send: never };
  const options = { journal: { directory }, handleSignals: false, logger };
  const deferrer = createDefer({ sinks: { test: hangs }, ...options });
  deferrer.defer(job, 1);
  await deferrer.close({ drainMs: 10 });
  const sink = new TestSink();
  const next = createDefer({ sinks: { test: sink }, ...options });
  await until('the job', () => sink.data.length === 1);
  await next.close();
});

test('the wall clock may be set at any moment: no wait and no age comes from it', async (t) => {
  const { sink, clock, queue, add } = bench(t, { batch: { waitMs: 5 }, retry: { minMs: 100 } });
  sink.answer = (batch) =>
    sink.batches.length === 1 ? batch.map(() => retry('again')) : undefined;
  add(1);
  clock.wallMs -= 86_400_000;
  await clock.pass(5);
  assert.equal(sink.batches.length, 1);
  clock.wallMs += 10 * 86_400_000;
  await clock.pass(99);
  assert.equal(sink.batches.length, 1);
  clock.wallMs -= 20 * 86_400_000;
  // Due now, and then gathered like any other.
  await clock.pass(6);
  assert.equal(sink.batches.length, 2);
  assert.equal(queue.stats.sent, 1);
  assert.ok(queue.stats.lagSumSeconds >= 0);
});
