import assert from 'node:assert/strict';
import { spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { systemClock } from '../../src/clock.ts';
import { createDefer } from '../../src/create-defer.ts';
import type { Deferrer } from '../../src/deferrer.ts';
import { defineJob } from '../../src/job/job.ts';
import { nodeFs, type JournalFs } from '../../src/journal/journal-fs.ts';
import { retry } from '../../src/sink.ts';
import type { DeferOptions } from '../../src/options.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestClock, TestLogger, TestSink } from '../harness.ts';

const job = defineJob<unknown>('job');

interface Life {
  readonly deferrer: Deferrer;
  readonly sink: TestSink;
  readonly logger: TestLogger;
}

function live(
  directory: string,
  options: Partial<DeferOptions> & { segmentBytes?: number } = {},
): Life {
  const sink = new TestSink();
  const logger = new TestLogger();
  const { segmentBytes = 1 << 20, ...rest } = options;
  const deferrer = createDefer<string>({
    sinks: { test: { sink, batch: { waitMs: 0 }, breaker: { minMs: 1, maxMs: 2 } } },
    journal: { directory, adoptEveryMs: 5, segmentBytes },
    level: 'process',
    handleSignals: false,
    logger,
    ...rest,
  });
  return { deferrer, sink, logger };
}

/** What a life leaves that ends with its sink away. */
async function leave(directory: string, data: unknown[], options = {}): Promise<void> {
  const { deferrer, sink } = live(directory, options);
  sink.answer = () => {
    throw new Error('away');
  };
  await Promise.all(data.map((each) => deferrer.defer(job, each).acknowledged()));
  await deferrer.close({ drainMs: 0 });
}

async function receive(t: TestContext, directory: string, count: number): Promise<Life> {
  const life = live(directory);
  t.after(() => life.deferrer.close());
  await until('the jobs', () => life.sink.data.length >= count);
  return life;
}

test('what one life leaves the next one does, and nothing of it stays', async (t) => {
  const directory = temporaryFolder(t);
  const data = Array.from({ length: 200 }, (_, n) => n);
  await leave(directory, data, { segmentBytes: 2_000 });
  const { deferrer, sink } = await receive(t, directory, 200);
  assert.deepEqual(sink.data, data);
  assert.ok(sink.batches.flat().every(({ redelivered }) => redelivered));
  await deferrer.close();
  assert.deepEqual(readdirSync(directory), ['dead']);
});

test('jobs of level memory are journaled by an orderly end', async (t) => {
  const directory = temporaryFolder(t);
  await leave(directory, ['a', 'b'], { level: 'memory' });
  const { sink } = await receive(t, directory, 2);
  assert.deepEqual(sink.data, ['a', 'b']);
});

test('an orphan is adopted by one of two lives, and while they run', async (t) => {
  const directory = temporaryFolder(t);
  const lives = [live(directory), live(directory)];
  t.after(() => Promise.all(lives.map(({ deferrer }) => deferrer.close())));
  const data = Array.from({ length: 50 }, (_, n) => n);
  await leave(directory, data);
  const received = (): unknown[] => lives.flatMap(({ sink }) => sink.data);
  await until('the jobs', () => received().length >= 50);
  assert.equal(received().length, 50);
});

test('a folder of another host is adopted when it shows no more signs of life', async (t) => {
  const directory = temporaryFolder(t);
  await leave(directory, [1]);
  const name = readdirSync(directory).find((each) => each.endsWith('~free'));
  const elsewhere = name!.replace('~free', '~1-1-0123456789ab');
  renameSync(join(directory, name!), join(directory, elsewhere));
  const { deferrer, sink } = live(directory);
  await deferrer.ready();
  assert.ok(readdirSync(directory).includes(elsewhere), 'not before the timeout');
  await deferrer.close();
  const clock = new TestClock();
  const later = live(directory, { clock, journal: { directory, adoptEveryMs: 5_000 } });
  t.after(() => later.deferrer.closeSync());
  await later.deferrer.ready();
  await clock.pass(29_000);
  assert.ok(readdirSync(directory).includes(elsewhere), 'not before the timeout');
  await clock.pass(6_000);
  await until('the job', () => later.sink.data.length === 1);
  assert.deepEqual(sink.data, []);
});

test('jobs for a sink that is not there any more stay where they are, and are reported', async (t) => {
  const directory = temporaryFolder(t);
  await leave(directory, [1], {
    sinks: {
      old: Object.assign(new TestSink(), { send: () => Promise.reject(new Error('away')) }),
    },
  });
  const { deferrer, logger } = live(directory);
  await deferrer.ready();
  await deferrer.close();
  assert.match(logger.lines.join(), /jobs for the sink "old", which is not configured/);
  const again = live(directory, { sinks: { old: new TestSink() } });
  t.after(() => again.deferrer.close());
  await until('the job', () => again.deferrer.queues.get('old')!.stats.sent === 1);
});

test('jobs for a sink that one process does not have are left to one that has it, while the first one lives', async (t) => {
  const directory = temporaryFolder(t);
  const away = { kind: 'away', send: () => Promise.reject(new Error('away')) };
  const newer = live(directory, { sinks: { test: away, mail: away }, sink: 'test' });
  for (const sink of ['test', 'mail'] as const) {
    for (let n = 0; n < 20; n++) {
      await newer.deferrer.defer(job, `${sink} ${n}`, { sink }).acknowledged();
    }
  }
  await newer.deferrer.close({ drainMs: 0 });
  // The version before knows no mail, and takes the journal over all the same.
  const older = await receive(t, directory, 20);
  const mail = new TestSink();
  const others = new TestSink();
  const next = live(directory, { sinks: { test: others, mail }, sink: 'test' });
  t.after(() => next.deferrer.close());
  await until('the mails', () => mail.data.length === 20);
  assert.deepEqual([older.sink.data.length, others.data.length], [20, 0]);
  await next.deferrer.close();
  await older.deferrer.close();
  assert.deepEqual(readdirSync(directory), ['dead']);
});

test('a bad frame in the middle is reported and kept, and everything else is delivered', async (t) => {
  const directory = temporaryFolder(t);
  await leave(directory, ['first', 'second', 'third']);
  const name = readdirSync(directory).find((each) => each.endsWith('~free'));
  const file = join(directory, name!, '00000001.seg');
  const bytes = readFileSync(file);
  bytes[bytes.indexOf('"second"') + 1]! ^= 1;
  writeFileSync(file, bytes);
  const { sink, logger } = await receive(t, directory, 2);
  assert.deepEqual(sink.data, ['first', 'third']);
  assert.match(logger.lines.join(), /damaged bytes at \d+; the jobs in them are lost/);
  assert.ok(readdirSync(directory).some((each) => each.startsWith('damaged-')));
});

test('a checkpoint with any wrong byte costs no job', async (t) => {
  const directory = temporaryFolder(t);
  // Segments of a job or two: those after one that stays are removed, and a checkpoint has their marks.
  const first = live(directory, { segmentBytes: 300 });
  first.sink.answer = (batch) =>
    batch.map(({ json }) => (json.includes('stays') ? retry('not yet', 600_000) : undefined));
  await first.deferrer.defer(job, 'stays').acknowledged();
  for (let n = 0; n < 20; n++) await first.deferrer.defer(job, `goes ${n}`).acknowledged();
  const folderOf = (): string => readdirSync(directory).find((each) => each.includes('~'))!;
  await until('the checkpoint', () =>
    readdirSync(join(directory, folderOf())).includes('checkpoint'),
  );
  await first.deferrer.close({ drainMs: 0 });
  const folder = join(directory, folderOf());
  const files = new Map(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]),
  );
  const whole = files.get('checkpoint')!;
  const { recoverJournal } = await import('../../src/journal/recover.ts');
  const { jobStates } = await import('../../src/journal/segment.ts');
  for (let at = 0; at < whole.length; at++) {
    const damaged = Buffer.from(whole);
    damaged[at]! ^= 0x15;
    writeFileSync(join(folder, 'checkpoint'), damaged);
    const id = folderOf().split('~')[0]!;
    const { segments, damages } = await recoverJournal(
      { fs: nodeFs, id, folder, names: [...files.keys()] },
      0,
    );
    assert.equal(damages.filter(({ kind }) => kind === 'checkpoint').length, 1, `byte ${at}`);
    const waiting = segments.reduce((sum, segment) => sum + segment.count(jobStates.waiting), 0);
    assert.ok(waiting >= 1, `byte ${at}`);
  }
});

test('what a sink acknowledged is sent again when its server restarts, across lives too', async (t) => {
  const directory = temporaryFolder(t);
  const first = live(directory);
  await first.deferrer.ready();
  first.sink.host!.generation('one');
  for (const n of [1, 2, 3]) await first.deferrer.defer(job, n).acknowledged();
  await until('the jobs', () => first.sink.data.length === 3);
  first.sink.host!.generation('one');
  first.sink.host!.generation('two');
  await until('them again', () => first.sink.data.length === 6);
  assert.deepEqual(first.sink.data, [1, 2, 3, 1, 2, 3]);
  assert.equal(first.deferrer.queues.get('test')!.stats.replayed, 3);
  await first.deferrer.close();

  const second = live(directory);
  t.after(() => second.deferrer.close());
  await second.deferrer.ready();
  second.sink.host!.generation('two');
  await second.deferrer.defer(job, 4).acknowledged();
  await until('the new one', () => second.sink.data.length === 1);
  second.sink.host!.generation('three');
  await until('all of them', () => second.sink.data.length === 5);
  assert.deepEqual(second.sink.data.slice(1).sort(), [1, 2, 3, 4]);
});

test('what is older than the replay window is not sent again, and leaves the disk', async (t) => {
  const directory = temporaryFolder(t);
  const { deferrer, sink } = live(directory, {
    journal: { directory, replayWindowMs: 20, adoptEveryMs: 5 },
  });
  await deferrer.ready();
  sink.host!.generation('one');
  await deferrer.defer(job, 1).acknowledged();
  await until('the job', () => sink.data.length === 1);
  await until('the end of the window', () => {
    // Only a server that is seen alive can have kept what it took.
    sink.host!.generation('one');
    return deferrer.journalBytes === 0;
  });
  sink.host!.generation('two');
  await deferrer.close();
  assert.deepEqual(sink.data, [1]);
  assert.deepEqual(readdirSync(directory), ['dead']);
});

test('dead letters lie in the directory, for whichever process asks', async (t) => {
  const directory = temporaryFolder(t);
  const first = live(directory);
  first.sink.answer = (batch) => batch.map(() => ({ kind: 'dead', error: new Error('no') }));
  await first.deferrer.defer(job, 'x').acknowledged();
  await until('the letter', () => first.deferrer.deadLetters.size === 1);
  await first.deferrer.close();
  const second = live(directory);
  t.after(() => second.deferrer.close());
  assert.equal(second.deferrer.deadLetters.size, 1);
  assert.equal(await second.deferrer.deadLetters.requeueAll(), 1);
  await until('the job', () => second.sink.data.length === 1);
  assert.deepEqual(readdirSync(join(directory, 'dead')), []);
});

test("a journal at its quota: 'reject' throws, 'drop-oldest' drops the oldest, counted", async (t) => {
  for (const overflow of ['reject', 'drop-oldest'] as const) {
    const directory = temporaryFolder(t);
    const sink = new TestSink();
    sink.isPaused = true;
    const sinkOptions = {
      sink,
      overflow,
      maxPending: 4,
      batch: { waitMs: 0, jobs: 1 },
      inFlight: 1,
    };
    const deferrer = createDefer<string>({
      sinks: { test: sinkOptions },
      journal: { directory, maxBytes: 20_000 },
      level: 'process',
      handleSignals: false,
      logger: false,
    });
    t.after(() => {
      sink.resume();
      deferrer.closeSync();
    });
    let refused = 0;
    for (let n = 0; n < 400; n++) {
      try {
        await deferrer.defer(job, 'x'.repeat(100)).acknowledged();
      } catch (error) {
        assert.equal((error as { code: string }).code, 'ERR_REDLINE_DEFER_FULL');
        refused++;
      }
    }
    const { stats } = deferrer.queues.get('test')!;
    assert.ok(deferrer.journalBytes! < 25_000, String(deferrer.journalBytes));
    if (overflow === 'reject') assert.ok(refused > 200 && stats.rejected === refused);
    else assert.ok(refused === 0 && stats.dropped.overflow > 200);
  }
});

test("'drop-oldest' drops nothing where that makes no room", async (t) => {
  const [one, other] = [new TestSink(), new TestSink()];
  one.isPaused = other.isPaused = true;
  const sinkOptions = { maxPending: 1, batch: { waitMs: 0, jobs: 1 }, inFlight: 1 };
  const deferrer = createDefer<string>({
    sinks: {
      one: { ...sinkOptions, sink: one, overflow: 'drop-oldest' },
      other: { ...sinkOptions, sink: other, overflow: 'reject' },
    },
    journal: { directory: temporaryFolder(t), maxBytes: 10_000 },
    level: 'process',
    handleSignals: false,
    logger: false,
  });
  t.after(() => {
    one.resume();
    other.resume();
    deferrer.closeSync();
  });
  // Each file has jobs of both.
  await assert.rejects(async () => {
    for (let n = 0; ; n++) {
      const sink = n % 2 === 0 ? 'other' : 'one';
      await deferrer.defer(job, 'x'.repeat(100), { sink }).acknowledged();
    }
  }, /maxBytes/);
  assert.throws(() => deferrer.defer(job, 'more', { sink: 'one' }), {
    code: 'ERR_REDLINE_DEFER_FULL',
  });
  assert.equal(deferrer.queues.get('one')!.stats.dropped.overflow, 0);
});

test('a process whose folder was taken while it stood still begins a new one, and says so', async (t) => {
  const directory = temporaryFolder(t);
  const clock = new TestClock();
  const options = { clock, handleSignals: false } as const;
  const stuck = live(directory, options);
  t.after(() => stuck.deferrer.closeSync());
  stuck.sink.isPaused = true;
  await stuck.deferrer.ready();
  await stuck.deferrer.defer(job, 'before').acknowledged();
  const folder = readdirSync(directory).find((name) => name.includes('~'))!;
  const id = folder.split('~')[0]!;
  const taken = `${id}~1-1-0123456789ab`;
  renameSync(join(directory, folder), join(directory, taken));
  await clock.pass(5_000);
  assert.match(stuck.logger.lines.join('\n'), /taken over/);
  await stuck.deferrer.defer(job, 'after', { level: 'disk' }).acknowledged();
  // As if it was killed: the next one finds what it wrote since.
  renameSync(join(directory, folder), join(directory, `${id}~free`));
  await receive(t, directory, 1).then(({ sink }) => assert.deepEqual(sink.data, ['after']));
  assert.ok(readdirSync(join(directory, taken)).length > 0);
});

for (const level of ['process', 'disk'] as const) {
  test(`a process that stood still claims nothing that it writes into a folder that was taken, at level ${level}`, async (t) => {
    const directory = temporaryFolder(t);
    const clock = new TestClock();
    const stuck = live(directory, { clock, journal: { directory, adoptEveryMs: 60_000 }, level });
    t.after(() => stuck.deferrer.closeSync());
    stuck.sink.isPaused = true;
    await stuck.deferrer.ready();
    await stuck.deferrer.defer(job, 'before').acknowledged();
    const folder = readdirSync(directory).find((name) => name.includes('~'))!;
    const id = folder.split('~')[0]!;
    renameSync(join(directory, folder), join(directory, `${id}~1-1-0123456789ab`));
    // Woken by a request: no timer comes before it.
    clock.stand(20_000);
    const refused = stuck.deferrer.defer(job, 'within').acknowledged();
    await assert.rejects(refused, { code: 'ERR_REDLINE_DEFER_JOURNAL', message: /ENOENT/ });
    await clock.pass(5_000);
    await stuck.deferrer.defer(job, 'after').acknowledged();
    assert.match(stuck.logger.lines.join('\n'), /taken over/);
    assert.ok(readdirSync(directory).includes(folder));
  });
}

test('a journal that cannot be read for a moment is adopted when it can', async (t) => {
  const directory = temporaryFolder(t);
  await leave(directory, [1, 2, 3]);
  let refusals = 0;
  const fs: JournalFs = {
    ...nodeFs,
    async readFile(path) {
      if (refusals++ < 3) throw Object.assign(new Error('EMFILE'), { code: 'EMFILE' });
      return nodeFs.readFile(path);
    },
  };
  const { sink, logger, deferrer } = live(directory, {
    journal: { directory, adoptEveryMs: 5, fs },
  });
  t.after(() => deferrer.close());
  await until('the jobs', () => sink.data.length === 3);
  assert.equal(logger.lines.filter((line) => line.includes('cannot be read')).length, 1);
});

test('SIGTERM drains what the sink takes in time, and journals the rest', async (t) => {
  const directory = temporaryFolder(t);
  const program = `
    const { createDefer, defineJob } = await import(${JSON.stringify(join(import.meta.dirname, '../../src/index.ts'))});
    const job = defineJob('job');
    const sinks = {
      fast: { kind: 'fast', async send(batch) { for (const { json } of batch) console.log('sent', json); } },
      stuck: { kind: 'stuck', send: () => new Promise(() => {}) },
    };
    const options = { sinks, journal: { directory: ${JSON.stringify(directory)} }, drainMs: 50, logger: false };
    const deferrer = createDefer({ ...options, sinks: { fast: { sink: sinks.fast, batch: { waitMs: 60_000 } }, stuck: sinks.stuck } });
    deferrer.defer(job, 'fast', { sink: 'fast' });
    deferrer.defer(job, 'stuck', { sink: 'stuck' });
    console.log('ready');
    setInterval(() => {}, 1_000);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  await until('the program', () => output.includes('ready'));
  child.kill('SIGTERM');
  const [, signal] = await once(child, 'exit');
  assert.equal(signal, 'SIGTERM', 'the process ends as it would have without us');
  assert.match(output, /sent "fast"/);
  const stuck = new TestSink();
  const next = live(directory, { sinks: { stuck, fast: new TestSink() } });
  t.after(() => next.deferrer.close());
  await until('the rest', () => stuck.data.length === 1);
  assert.deepEqual(stuck.data, ['stuck']);
});

test('an outage of any length loses nothing: the replay window waits for the server to be seen', async (t) => {
  const clock = new TestClock();
  const { deferrer, sink } = live(temporaryFolder(t), {
    clock,
    journal: { directory: temporaryFolder(t), adoptEveryMs: 60_000 },
  });
  t.after(() => deferrer.closeSync());
  await deferrer.ready();
  sink.host!.generation('one');
  for (const n of [1, 2, 3]) deferrer.defer(job, n);
  await until('the jobs', async () => {
    await clock.pass(1);
    return sink.data.length === 3;
  });
  sink.host!.available(false);
  await clock.pass(600_000);
  sink.host!.available(true);
  sink.host!.generation('two');
  await until('the jobs again', async () => {
    await clock.pass(1);
    return sink.data.length === 6;
  });
});

for (const end of ['terminate', 'throw'] as const) {
  test(`jobs of a worker thread that ends by ${end} are done while the process lives`, async (t) => {
    const directory = temporaryFolder(t);
    const { sink, deferrer } = live(directory);
    t.after(() => deferrer.close());
    const program = `
      const { parentPort } = require('node:worker_threads');
      import(${JSON.stringify(join(import.meta.dirname, '../../src/index.ts'))}).then(async ({ createDefer, defineJob }) => {
        const test = { kind: 'away', send: () => Promise.reject(new Error('away')) };
        const journal = { directory: ${JSON.stringify(directory)} };
        const deferrer = createDefer({ sinks: { test }, journal, logger: false });
        const job = defineJob('job');
        for (let n = 0; n < 5; n++) await deferrer.defer(job, n, { level: 'disk' }).acknowledged();
        parentPort.postMessage('acknowledged');
        setInterval(() => {}, 1_000);
        if (${end === 'throw'}) throw new Error('as it is meant to');
      });
    `;
    const worker = new Worker(program, { eval: true });
    worker.on('error', () => {});
    const ended = new Promise((resolve) => void worker.on('exit', resolve));
    if (end === 'terminate') {
      await once(worker, 'message');
      await worker.terminate();
    }
    await ended;
    await until('its jobs', () => sink.data.length === 5);
  });
}

for (const ordered of [true, 'key'] as const) {
  test(`with ordered: ${ordered}, what other lives left goes before what is new`, async (t) => {
    const directory = temporaryFolder(t);
    const key = 'k';
    for (const from of [0, 100]) {
      const { deferrer, sink } = live(directory);
      // Ends before it has looked for what others left.
      sink.answer = () => {
        throw new Error('away');
      };
      for (let n = from; n < from + 100; n++) deferrer.defer(job, n, { key });
      deferrer.closeSync();
    }
    const sink = new TestSink();
    const { deferrer } = live(directory, {
      sinks: { test: { sink, ordered, batch: { waitMs: 0, jobs: 10 }, maxPending: 30 } },
    });
    t.after(() => deferrer.close());
    for (let n = 200; n < 250; n++) deferrer.defer(job, n, { key });
    await deferrer.ready();
    for (let n = 250; n < 300; n++) deferrer.defer(job, n, { key });
    await until('all of them', () => sink.data.length === 300);
    assert.deepEqual(
      sink.data,
      Array.from({ length: 300 }, (_, n) => n),
    );
  });
}

test('what other lives left keeps its order, although the clock was set back between them', async (t) => {
  const directory = temporaryFolder(t);
  const hour = 3_600_000;
  // The last one starts without any clock, as a board does that has no battery.
  const walls = [() => Date.now(), () => Date.now() - hour, () => hour];
  for (const [n, wall] of walls.entries()) {
    const { deferrer, sink } = live(directory, { clock: { ...systemClock, wall } });
    sink.answer = () => {
      throw new Error('away');
    };
    deferrer.defer(job, n);
    deferrer.closeSync();
  }
  const sink = new TestSink();
  const { deferrer } = live(directory, { sinks: { test: { sink, ordered: true } } });
  t.after(() => deferrer.close());
  await until('all of them', () => sink.data.length === 3);
  assert.deepEqual(sink.data, [0, 1, 2]);
});

test('a process that lives keeps its journal where there is no /proc', (t) => {
  const directory = temporaryFolder(t);
  const source = JSON.stringify(join(import.meta.dirname, '../../src/index.ts'));
  const program = `
    const [{ createDefer }, { spawnSync }, { readdirSync }] = await Promise.all([
      import(${source}),
      import('node:child_process'),
      import('node:fs'),
    ]);
    const directory = ${JSON.stringify(directory)};
    const deferrer = createDefer({ sinks: {}, journal: { directory }, logger: false });
    await deferrer.ready();
    if (process.argv[1] !== 'other') {
      const before = readdirSync(directory);
      const other = ['--input-type=module', '-e', process.env.PROGRAM, 'other'];
      const { status } = spawnSync(process.execPath, other);
      console.log(status, JSON.stringify(before) === JSON.stringify(readdirSync(directory)));
    }
    await deferrer.close();
  `;
  const isolated = (...command: string[]): SpawnSyncReturns<string> => {
    const hide = 'umount -l /proc && exec "$0" "$@"';
    const env = { ...process.env, PROGRAM: program };
    return spawnSync('unshare', ['--mount', 'sh', '-c', hide, ...command], {
      encoding: 'utf8',
      env,
    });
  };
  if (isolated('true').status !== 0) return t.skip('It takes root and Linux to hide /proc.');
  const { stdout, stderr } = isolated(process.execPath, '--input-type=module', '-e', program);
  assert.equal(stdout, '0 true\n', stderr);
});

test('SIGTERM ends a process that listens in the way of signal-exit, too', async () => {
  const program = `
    const { createDefer } = await import(${JSON.stringify(join(import.meta.dirname, '../../src/index.ts'))});
    createDefer({ sinks: {}, logger: false });
    // It ends the process when nobody but its like listens.
    const emitter = (globalThis[Symbol.for('signal-exit emitter')] = { count: 1 });
    const listener = () => {
      if (process.listeners('SIGTERM').length !== emitter.count) return;
      process.off('SIGTERM', listener);
      process.kill(process.pid, 'SIGTERM');
    };
    process.on('SIGTERM', listener);
    setInterval(() => {}, 1_000);
    console.log('ready');
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  const stopped = setTimeout(() => child.kill('SIGKILL'), 30_000);
  const [, signal] = await once(child, 'exit');
  clearTimeout(stopped);
  assert.equal(signal, 'SIGTERM');
});
