// Jobs that are to run later: at their time, across restarts, and with nothing of them in memory but their place.
import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createDefer } from '../src/create-defer.ts';
import { runInspect } from '../src/inspect/inspect.ts';
import type { DeferCallOptions } from '../src/job/call-options.ts';
import { defineJob } from '../src/job/job.ts';
import { DueOnDisk } from '../src/sink-queue/delayed.ts';
import type { Journal } from '../src/journal/journal.ts';
import { retry, type Delivery } from '../src/sink.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestClock, TestSink, turns } from './harness.ts';
import { pass, start } from './started.ts';

const job = defineJob<number>('job');
const hourMs = 3_600_000;
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const levels = ['memory', 'process', 'disk'] as const;

for (const level of levels) {
  for (const hasJournal of level === 'memory' ? [false, true] : [true]) {
    const where = hasJournal ? 'with a journal' : 'without a journal';
    test(`a delayed job of level ${level}, ${where}, runs at its time, the earliest first`, async (t) => {
      const { deferrer, clock, sink } = await start(t, hasJournal ? temporaryFolder(t) : undefined);
      const later = { level, delayMs: 2 * hourMs };
      const first = deferrer.defer(job, 2, later);
      deferrer.defer(job, 1, { level, runAt: new Date(clock.wall() + hourMs) });
      deferrer.defer(job, 0, { level });
      await first.acknowledged();
      await pass(clock, hourMs - 10_000, () => sink.data.length === 1);
      assert.deepEqual(sink.data, [0]);
      const queue = deferrer.queues.get('test')!;
      assert.equal(queue.depth, 0);
      assert.equal(queue.delayed.jobs, 2);
      assert.equal(queue.loaded, hasJournal ? 0 : 2);
      await pass(clock, 10_000, () => sink.data.length === 2);
      assert.deepEqual(sink.data, [0, 1]);
      await pass(clock, hourMs, () => sink.data.length === 3);
      assert.deepEqual(sink.data, [0, 1, 2]);
      assert.deepEqual(
        sink.batches.flat().map(({ attempt, redelivered }) => ({ attempt, redelivered })),
        Array.from({ length: 3 }, () => ({ attempt: 1, redelivered: false })),
      );
      assert.equal(queue.delayed.jobs, 0);
    });
  }
}

test('a time that is past is now, and so is no delay', async (t) => {
  const { deferrer, clock, sink } = await start(t, temporaryFolder(t));
  const calls: DeferCallOptions[] = [
    { delayMs: 0 },
    { runAt: new Date(0) },
    { runAt: clock.wall() },
    { runAt: new Date(clock.wall() - 1), level: 'sink' },
  ];
  for (const [n, call] of calls.entries()) deferrer.defer(job, n, call);
  await clock.pass(100);
  assert.deepEqual(sink.data, [0, 1, 2, 3]);
});

test('a time that is none is an error that says so, and nothing is kept', async (t) => {
  const { deferrer, clock } = await start(t, temporaryFolder(t));
  const seconds = Math.floor(Date.now() / 1_000);
  const wrong: [call: object, message: RegExp][] = [
    [{ delayMs: -1 }, /delayMs must be a number of milliseconds, 0 or above; got -1/],
    [{ delayMs: Number.NaN }, /got NaN/],
    [{ delayMs: Infinity }, /got Infinity/],
    [{ delayMs: 8.6e15 }, /got 8600000000000000/],
    [{ delayMs: '5' }, /got '5'/],
    [
      { runAt: new Date('never') },
      /runAt must be a Date, or milliseconds since 1970.*Invalid Date/,
    ],
    [{ runAt: Number.NaN }, /got NaN/],
    [{ runAt: '2030-01-01' }, /got '2030-01-01'/],
    [{ runAt: null }, /got null/],
    [{ runAt: 1e300 }, /got 1e\+300/],
    [{ runAt: seconds }, /is it in seconds\?/],
    [{ runAt: -5 }, /is long ago/],
    [{ delayMs: 5, runAt: new Date() }, /exclude each other/],
    [{ delay: 5 }, /Unknown option "delay" of defer/],
  ];
  for (const [call, message] of wrong) {
    const code = 'ERR_REDLINE_DEFER_OPTION';
    assert.throws(() => deferrer.defer(job, 1, call as DeferCallOptions), { code, message });
  }
  assert.throws(() => deferrer.defer(job, 1, { level: 'sink', delayMs: 5 }), {
    code: 'ERR_REDLINE_DEFER_LEVEL',
    message: /At level sink the response waits/,
  });
  assert.equal(deferrer.queues.get('test')!.delayed.jobs, 0);
  await clock.pass(1);
});

test('the next process has it run at its time, or at once where that is past', async (t) => {
  const directory = temporaryFolder(t);
  const first = await start(t, directory);
  for (const level of levels) {
    for (const hours of [1, 5]) {
      const late = first.deferrer.defer(job, hours, { level, delayMs: hours * hourMs });
      await late.acknowledged();
    }
  }
  first.deferrer.closeSync();
  assert.deepEqual(first.sink.data, []);
  const clock = new TestClock();
  clock.wallMs += 2 * hourMs;
  const { sink, deferrer } = await start(t, directory, {}, clock);
  const queue = deferrer.queues.get('test')!;
  await pass(clock, 0, () => sink.data.length === 3);
  assert.deepEqual(sink.data, [1, 1, 1]);
  assert.equal(queue.delayed.jobs, 3);
  assert.equal(queue.delayed.nextRunAtMs! > clock.wall() + 2 * hourMs, true);
  await clock.pass(2 * hourMs);
  assert.equal(sink.data.length, 3);
  await pass(clock, hourMs, () => sink.data.length === 6);
  assert.deepEqual(sink.data.slice(3), [5, 5, 5]);
});

test('the wall clock may be set while it waits', async (t) => {
  for (const step of [-12 * hourMs, 12 * hourMs]) {
    const { deferrer, clock, sink } = await start(t, temporaryFolder(t));
    await deferrer.defer(job, 1, { level: 'process', delayMs: hourMs }).acknowledged();
    clock.wallMs += step;
    await clock.pass(hourMs - 10_000);
    assert.deepEqual(sink.data, []);
    await pass(clock, 10_000, () => sink.data.length === 1);
    assert.deepEqual(sink.data, [1]);
  }
});

test('many that are due at once come through in their order, however little room there is', async (t) => {
  const sinkOptions = { maxPending: 20, maxPendingBytes: 400, batch: { jobs: 5 } };
  const { deferrer, clock, sink } = await start(t, temporaryFolder(t), sinkOptions);
  const padded = defineJob<{ n: number; padding: string }>('padded');
  const numbers = Array.from({ length: 300 }, (_, n) => n);
  for (const n of numbers) {
    deferrer.defer(
      padded,
      { n, padding: 'x'.repeat(n % 100) },
      { level: 'process', delayMs: 1_000 + n },
    );
    await turns();
  }
  await pass(clock, 1_300, () => sink.data.length === 300);
  const seen = sink.data.map((data) => (data as { n: number }).n);
  assert.deepEqual(
    seen.toSorted((a, b) => a - b),
    numbers,
  );
});

test('a delayed job that fails is tried again, and does not wait for its time a second time', async (t) => {
  const { deferrer, clock, sink } = await start(t, temporaryFolder(t), {
    retry: { minMs: 100, maxMs: 100 },
  });
  const tries: Delivery[] = [];
  sink.answer = (batch) => {
    tries.push(...batch);
    return batch.map(() => (tries.length < 3 ? retry(new Error('not yet')) : undefined));
  };
  deferrer.defer(job, 1, { level: 'process', delayMs: hourMs });
  await turns();
  await pass(clock, hourMs, () => tries.length === 3);
  assert.equal(tries.at(-1)!.attempt, 3);
});

test('an end does not wait for it: a journal keeps it, and without one it is counted and reported', async (t) => {
  const directory = temporaryFolder(t);
  const kept = await start(t, directory);
  kept.deferrer.defer(job, 1, { delayMs: hourMs });
  await kept.deferrer.close();
  assert.deepEqual(kept.logger.lines, []);
  const lost = await start(t, undefined);
  lost.deferrer.defer(job, 1, { delayMs: hourMs });
  await turns();
  await lost.deferrer.close();
  assert.equal(lost.deferrer.queues.get('test')!.stats.dropped.exit, 1);
  assert.match(lost.logger.lines.join('\n'), /1 jobs of level memory are lost at exit/);
});

test('without a journal, delayed jobs take the room of a queue, and no more', async (t) => {
  const { deferrer } = await start(t, undefined, { maxPending: 10 });
  for (let n = 0; n < 10; n++) deferrer.defer(job, n, { delayMs: hourMs });
  assert.throws(() => deferrer.defer(job, 10, { delayMs: hourMs }), {
    code: 'ERR_REDLINE_DEFER_FULL',
  });
});

test('its segment stays until it is done, and goes then', async (t) => {
  const directory = temporaryFolder(t);
  const { deferrer, clock, sink } = await start(t, directory);
  const big = defineJob<string>('big');
  for (let n = 0; n < 20; n++) {
    deferrer.defer(big, 'x'.repeat(1_000), { level: 'process', delayMs: hourMs });
    await turns();
  }
  const segments = (): string[] => {
    const folder = readdirSync(directory).find((name) => name.includes('~'))!;
    return readdirSync(join(directory, folder)).filter((name) => name.endsWith('.seg'));
  };
  await clock.pass(60_000);
  assert.ok(segments().length >= 5);
  await pass(clock, hourMs, () => sink.data.length === 20);
  await pass(clock, 120_000, () => segments().length <= 1);
  assert.ok(segments().length <= 1);
});

test('inspect shows until when it waits', async (t) => {
  const directory = temporaryFolder(t);
  const sink = new TestSink();
  const deferrer = createDefer({
    sinks: { test: sink },
    journal: { directory },
    logger: false,
    handleSignals: false,
  });
  t.after(() => deferrer.close());
  await deferrer.ready();
  const runAt = new Date(Date.now() + hourMs);
  await deferrer.defer(job, 1, { level: 'process', runAt }).acknowledged();
  const look = async (options: object): Promise<string> => {
    let text = '';
    await runInspect(directory, options, (more) => (text += more));
    return text;
  };
  const text = await look({});
  assert.match(text, /0 waiting, 1 delayed, 0 sent/);
  assert.ok(text.includes(`until ${runAt.toISOString()}`), text);
  const exported = JSON.parse(await look({ export: true, state: 'delayed' }));
  assert.equal(exported.runAtMs, runAt.getTime());
  await assert.rejects(look({ requeue: true, state: 'delayed' }), /nothing to requeue/);
});

describe('of jobs on disk', () => {
  test('the heap holds none, and they come out in the order of their times', () => {
    const heap = new DueOnDisk();
    const journals = ['a', 'b'].map((id) => journalOf(id));
    const due: number[] = [];
    let state = 1;
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let number = 1; number <= 200_000; number++) {
      state = (state * 48_271) % 0x7fff_ffff;
      const place = {
        journal: journals[number % 2]!,
        segment: undefined as never,
        number,
        offset: number * 300,
      };
      heap.push(place, state % 50_000);
      due.push(state % 50_000);
    }
    collect();
    // The figures of this test are 2 MB; an object for each job would be 10 and more.
    const grown = process.memoryUsage().heapUsed - before;
    assert.ok(grown < 6 << 20, `${grown} bytes`);
    due.sort((a, b) => a - b);
    let last = { dueAtMs: -1, number: -1 };
    for (const expected of due) {
      assert.equal(heap.nextDueAtMs, expected);
      const { number, offset } = heap.pop()!;
      assert.equal(offset, number * 300);
      assert.ok(
        last.dueAtMs < expected || last.number < number,
        'the first of two is the older one',
      );
      last = { dueAtMs: expected, number };
    }
    assert.equal(heap.length, 0);
    assert.equal(heap.nextDueAtMs, undefined);
  });

  test('one whose journal has it no more is left out', () => {
    const heap = new DueOnDisk();
    const journal = { ...journalOf('a'), placeOf: () => undefined } as unknown as Journal;
    heap.push({ journal, segment: undefined as never, number: 1, offset: 16 }, 5);
    assert.equal(heap.pop(), undefined);
    assert.equal(heap.length, 0);
  });

  function journalOf(id: string): Journal {
    const journal = {
      id,
      placeOf: (number: number, offset: number) => ({ journal, number, offset }),
    };
    return journal as unknown as Journal;
  }
});

test('a process that has nothing else to do does not wait for it', async (t) => {
  const directory = temporaryFolder(t);
  const { execFile } = await import('node:child_process');
  const program = `
    import { createDefer, defineJob } from ${JSON.stringify(join(import.meta.dirname, '../src/index.ts'))};
    const deferrer = createDefer({ sinks: { none: { kind: 'none', async send() {} } }, journal: { directory: process.argv[1] } });
    deferrer.defer(defineJob('late'), undefined, { level: 'disk', delayMs: ${hourMs} });`;
  const args = ['--input-type=module', '--eval', program, directory];
  await new Promise<void>((resolve, reject) => {
    execFile(process.execPath, args, { timeout: 300_000 }, (error) =>
      error ? reject(error) : resolve(),
    );
  });
  const folder = readdirSync(directory).find((name) => name.endsWith('~free'));
  await until('the job', () => statSync(join(directory, folder!, '00000001.seg')).size > 16);
});
