// Jobs whose keys are taken: kept, replaced, put off and cancelled, in memory and on disk, and by the next process as well.
import assert from 'node:assert/strict';
import { readdirSync, renameSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { DeferCallOptions } from '../src/job/call-options.ts';
import { defineJob, type Level } from '../src/job/job.ts';
import { decodeJobRecord, encodeJobRecord } from '../src/journal/job-record.ts';
import { nodeFs, type JournalFs } from '../src/journal/journal-fs.ts';
import type { SinkQueueOptions } from '../src/sink-queue/queue-options.ts';
import { retry } from '../src/sink.ts';
import { temporaryFolder, TestClock } from './harness.ts';
import { pass, start, type Start } from './started.ts';

const job = defineJob<string>('job');
const other = defineJob<string>('other');

/** What a process that is killed now leaves behind. */
function copyOf(t: TestContext, directory: string): string {
  const copy = temporaryFolder(t);
  cpSync(directory, copy, { recursive: true, filter: (name) => !name.endsWith('.alive') });
  for (const name of readdirSync(copy)) {
    if (name.includes('~')) renameSync(join(copy, name), join(copy, `${name.split('~')[0]!}~free`));
  }
  return copy;
}

const places: readonly (readonly [level: Level, hasJournal: boolean])[] = [
  ['memory', false],
  ['memory', true],
  ['process', true],
  ['disk', true],
];

for (const [level, hasJournal] of places) {
  describe(`at level ${level}, ${hasJournal ? 'with' : 'without'} a journal`, () => {
    const started = (t: TestContext, sinkOptions?: Partial<SinkQueueOptions>): Promise<Start> =>
      start(t, hasJournal ? temporaryFolder(t) : undefined, sinkOptions);

    const calls: readonly (readonly [
      name: string,
      second: DeferCallOptions,
      sentAt: readonly (readonly [ms: number, data: string[]])[],
    ])[] = [
      [
        'keep leaves the one that waits',
        { onDuplicate: 'keep' },
        [
          [10_000, ['1']],
          [20_000, ['1']],
        ],
      ],
      [
        'replace has its data and the time of the one that waits',
        { onDuplicate: 'replace', delayMs: 15_000 },
        [
          [10_000, ['2']],
          [20_000, ['2']],
        ],
      ],
      [
        'extend has its data and its time',
        { onDuplicate: 'extend', delayMs: 15_000 },
        [
          [10_000, []],
          [20_000, ['2']],
        ],
      ],
      [
        'extend without a time is now',
        { onDuplicate: 'extend' },
        [
          [100, ['2']],
          [20_000, ['2']],
        ],
      ],
    ];
    for (const [name, second, sentAt] of calls) {
      test(name, async (t) => {
        const { deferrer, clock, sink, logger } = await started(t);
        const key = 'k\n"~';
        await deferrer
          .defer(job, '1', { level, key, delayMs: 10_000, onDuplicate: 'extend' })
          .acknowledged();
        await deferrer.defer(job, '2', { level, key, ...second }).acknowledged();
        let passed = 0;
        for (const [ms, data] of sentAt) {
          await pass(clock, ms - passed, () => sink.data.length === data.length);
          passed = ms;
          assert.deepEqual(sink.data, data);
        }
        assert.equal(deferrer.queues.get('test')!.delayed.jobs, 0);
        assert.equal(deferrer.queues.get('test')!.depth, 0);
        assert.deepEqual(logger.lines, []);
      });
    }

    test('the last of twenty calls runs, once, and other keys, names and jobs without the option do as well', async (t) => {
      const { deferrer, clock, sink } = await started(t);
      const call = { level, key: 'a', delayMs: 1_000 };
      for (let n = 1; n <= 20; n++) {
        await deferrer.defer(job, `${n}`, { ...call, onDuplicate: 'extend' }).acknowledged();
        await clock.pass(10);
      }
      void deferrer.defer(job, 'b', { ...call, key: 'b', onDuplicate: 'extend' });
      void deferrer.defer(other, 'other', { ...call, onDuplicate: 'extend' });
      await deferrer.defer(job, 'plain', call).acknowledged();
      assert.equal(deferrer.queues.get('test')!.delayed.jobs, 4);
      await pass(clock, 1_000, () => sink.data.length === 4);
      assert.deepEqual(sink.data.toSorted(), ['20', 'b', 'other', 'plain']);
    });

    test('a job that is cancelled does not run, and no other one goes with it', async (t) => {
      const { deferrer, clock, sink, logger } = await started(t);
      const call: DeferCallOptions = { level, delayMs: 1_000, onDuplicate: 'keep' };
      for (const key of ['a', 'b']) await deferrer.defer(job, key, { ...call, key }).acknowledged();
      assert.equal(await deferrer.cancel(other, 'a'), false);
      assert.equal(await deferrer.cancel(job, 'c'), false);
      assert.equal(await deferrer.cancel(job, 'a'), true);
      assert.equal(await deferrer.cancel(job, 'a'), false);
      await pass(clock, 1_000, () => sink.data.length === 1);
      assert.deepEqual(sink.data, ['b']);
      assert.equal(await deferrer.cancel(job, 'b'), false);
      assert.deepEqual(logger.lines, []);
    });

    test('what waits for its sink is replaced and cancelled, too, what is being sent is not', async (t) => {
      const { deferrer, clock, sink } = await started(t, { inFlight: 1, batch: { jobs: 1 } });
      const call: DeferCallOptions = { level, key: 'k', onDuplicate: 'replace' };
      sink.isPaused = true;
      void deferrer.defer(job, '1', call);
      await clock.pass(10);
      assert.deepEqual(sink.data, ['1']);
      assert.equal(await deferrer.cancel(job, 'k'), false);
      void deferrer.defer(job, '2', call);
      await clock.pass(10);
      void deferrer.defer(job, '3', call);
      void deferrer.defer(job, 'x', { ...call, key: 'x' });
      void deferrer.defer(job, 'y', { ...call, key: 'y' });
      await clock.pass(10);
      assert.equal(await deferrer.cancel(job, 'x'), true);
      sink.resume();
      await pass(clock, 100, () => sink.data.length === 3);
      assert.deepEqual(sink.data, ['1', '3', 'y']);
    });

    test('a job that is replaced while it is being sent, and fails, is not tried again', async (t) => {
      const { deferrer, clock, sink } = await started(t, { inFlight: 1, batch: { jobs: 1 } });
      const call: DeferCallOptions = { level, key: 'k', onDuplicate: 'replace' };
      sink.isPaused = true;
      sink.answer = ([first]) =>
        first!.json === '"1"' ? [retry(new Error('not now'))] : undefined;
      void deferrer.defer(job, '1', call);
      await clock.pass(10);
      await deferrer.defer(job, '2', call).acknowledged();
      sink.resume();
      await pass(clock, 120_000, () => sink.data.length > 1);
      assert.deepEqual(sink.data, ['1', '2']);
    });

    test('a job that failed and waits for its next try is kept, replaced, and cancelled', async (t) => {
      const { deferrer, clock, sink } = await started(t);
      sink.answer = (batch) =>
        batch.map(({ json, attempt }) =>
          attempt === 1 && json.startsWith('"1') ? retry(new Error('not now')) : undefined,
        );
      for (const key of ['kept', 'replaced', 'cancelled']) {
        await deferrer.defer(job, `1 ${key}`, { level, key, onDuplicate: 'keep' }).acknowledged();
      }
      await clock.pass(20);
      assert.equal(sink.data.length, 3);
      await deferrer
        .defer(job, '2 kept', { level, key: 'kept', onDuplicate: 'keep' })
        .acknowledged();
      await deferrer
        .defer(job, '2 replaced', { level, key: 'replaced', onDuplicate: 'replace' })
        .acknowledged();
      assert.equal(await deferrer.cancel(job, 'cancelled'), true);
      await pass(clock, 120_000, () => sink.data.length === 5);
      assert.deepEqual(sink.data.slice(3).toSorted(), ['1 kept', '2 replaced']);
    });
  });
}

test('a kill between two calls leaves one job, with the data of the last one', async (t) => {
  const directory = temporaryFolder(t);
  const clock = new TestClock();
  const { deferrer } = await start(t, directory, {}, clock);
  const states: [directory: string, data: string[]][] = [];
  const call = (data: string, options: DeferCallOptions): Promise<void> =>
    deferrer
      .defer(job, data, { level: 'process', delayMs: 1_000, key: 'k', ...options })
      .acknowledged();
  await call('1', { onDuplicate: 'keep' });
  await call('2', { onDuplicate: 'keep' });
  states.push([copyOf(t, directory), ['1']]);
  await call('3', { onDuplicate: 'replace' });
  // Its own end is not marked yet, where the write has just been made.
  states.push([copyOf(t, directory), ['3']]);
  await call('4', { onDuplicate: 'extend' });
  states.push([copyOf(t, directory), ['4']]);
  await call('other', { onDuplicate: 'extend', key: 'l' });
  assert.equal(await deferrer.cancel(job, 'k'), true);
  states.push([copyOf(t, directory), ['other']]);
  for (const [copy, data] of states) {
    const later = new TestClock();
    later.wallMs = clock.wallMs + 60_000;
    const next = await start(t, copy, {}, later);
    await pass(later, 100, () => next.sink.data.length >= data.length);
    assert.deepEqual(next.sink.data, data);
    assert.equal(next.deferrer.queues.get('test')!.depth, 0);
    assert.deepEqual(next.logger.lines, []);
  }
});

test('the next process replaces, keeps and cancels what an ended one has left', async (t) => {
  const directory = temporaryFolder(t);
  const first = await start(t, directory);
  for (const key of ['kept', 'replaced', 'cancelled', 'put off']) {
    const call: DeferCallOptions = { level: 'disk', key, delayMs: 5_000, onDuplicate: 'keep' };
    await first.deferrer.defer(job, `1 ${key}`, call).acknowledged();
  }
  await first.deferrer.close();
  const { deferrer, sink, clock } = await start(t, directory);
  const call: DeferCallOptions = { level: 'memory', delayMs: 8_000 };
  await deferrer.defer(job, '2 kept', { ...call, key: 'kept', onDuplicate: 'keep' }).acknowledged();
  await deferrer
    .defer(job, '2 replaced', { ...call, key: 'replaced', onDuplicate: 'replace' })
    .acknowledged();
  await deferrer
    .defer(job, '2 put off', { ...call, key: 'put off', onDuplicate: 'extend' })
    .acknowledged();
  assert.equal(await deferrer.cancel(job, 'cancelled'), true);
  await pass(clock, 5_000, () => sink.data.length === 2);
  assert.deepEqual(sink.data.toSorted(), ['1 kept', '2 replaced']);
  await pass(clock, 3_000, () => sink.data.length === 3);
  assert.deepEqual(sink.data[2], '2 put off');
  // It is as safe as the one was whose place it took.
  assert.ok(
    sink.batches.flat().every((delivery) => 'place' in delivery && delivery.place !== undefined),
  );
});

test('a job that cannot be written leaves the one that waits where it is', async (t) => {
  let isFull = false;
  const full: JournalFs = {
    ...nodeFs,
    writeSync(...args) {
      if (isFull) throw Object.assign(new Error('no room'), { code: 'ENOSPC' });
      return nodeFs.writeSync(...args);
    },
  };
  const { deferrer, clock, sink } = await start(t, temporaryFolder(t), {}, new TestClock(), full);
  const call: DeferCallOptions = { level: 'process', delayMs: 1_000, onDuplicate: 'extend' };
  for (const key of ['k', 'l'])
    await deferrer.defer(job, `1 ${key}`, { ...call, key }).acknowledged();
  isFull = true;
  for (const key of ['k', 'l']) {
    await assert.rejects(deferrer.defer(job, `2 ${key}`, { ...call, key }).acknowledged(), {
      code: 'ERR_REDLINE_DEFER_JOURNAL',
    });
  }
  isFull = false;
  assert.equal(await deferrer.cancel(job, 'l'), true);
  await pass(clock, 1_000, () => sink.data.length === 1);
  assert.deepEqual(sink.data, ['1 k']);
});

test('a record keeps the option, and records without it, or without a time, are as before', () => {
  const record = {
    id: 'a-1',
    sink: 's',
    job: 'j',
    key: 'k',
    json: '{"a":1}',
    deferredAtMs: 1,
    attempt: 1,
    context: undefined,
    options: undefined,
    runAtMs: undefined,
    onDuplicate: undefined,
  };
  assert.equal(encodeJobRecord(record), '["a-1","s","j","k",1,1]\n{"a":1}');
  for (const runAtMs of [undefined, 5]) {
    for (const onDuplicate of [undefined, 'keep', 'extend'] as const) {
      for (const context of [undefined, { requestId: 'r' }]) {
        const each = { ...record, runAtMs, onDuplicate, context };
        assert.deepEqual(decodeJobRecord(encodeJobRecord(each)), each);
      }
    }
  }
  // As the first version wrote them.
  const old = '["a-1","s","j",null,1,2,{"requestId":"r"},null,7]\nnull';
  assert.deepEqual(decodeJobRecord(old), {
    ...record,
    key: undefined,
    json: 'null',
    attempt: 2,
    context: { requestId: 'r' },
    runAtMs: 7,
  });
});

test('what cannot be done is an error that says so', async (t) => {
  const { deferrer } = await start(t, temporaryFolder(t));
  const wrong: [call: object, code: string, message: RegExp][] = [
    [
      { key: 'k', onDuplicate: 'drop' },
      'OPTION',
      /onDuplicate must be one of 'keep', 'replace', 'extend'; got 'drop'/,
    ],
    [{ onDuplicate: 'keep' }, 'OPTION', /needs a key/],
    [{ key: 'k', onDuplicate: 'keep', level: 'sink' }, 'LEVEL', /level sink does not wait here/],
  ];
  for (const [call, code, message] of wrong) {
    assert.throws(() => deferrer.defer(job, '1', call), {
      code: `ERR_REDLINE_DEFER_${code}`,
      message,
    });
  }
  await assert.rejects(deferrer.cancel(job, 5 as never), { code: 'ERR_REDLINE_DEFER_OPTION' });
  await assert.rejects(deferrer.cancel({} as never, 'k'), {
    code: 'ERR_REDLINE_DEFER_UNKNOWN_JOB',
  });
  await assert.rejects(deferrer.cancel(job, 'k', { sink: 'nowhere' }), {
    code: 'ERR_REDLINE_DEFER_UNKNOWN_SINK',
  });
});
