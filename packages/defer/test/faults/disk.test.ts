import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { createDefer } from '../../src/create-defer.ts';
import type { Deferrer } from '../../src/deferrer.ts';
import { defineJob } from '../../src/job/job.ts';
import { nodeFs, type JournalFs } from '../../src/journal/journal-fs.ts';
import { retry } from '../../src/sink.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestLogger, TestSink } from '../harness.ts';

const job = defineJob<unknown>('job');

function start(
  t: TestContext,
  directory: string,
  fs: JournalFs,
  onFailure: 'reject' | 'degrade' = 'reject',
): { deferrer: Deferrer; sink: TestSink; logger: TestLogger } {
  const sink = new TestSink();
  const logger = new TestLogger();
  const deferrer = createDefer<string>({
    sinks: { test: { sink, batch: { waitMs: 0 }, breaker: { minMs: 1, maxMs: 2 } } },
    journal: { directory, fs, onFailure, adoptEveryMs: 5 },
    handleSignals: false,
    logger,
  });
  t.after(() => deferrer.close({ drainMs: 0 }));
  return { deferrer, sink, logger };
}

/** Small segments, and a sink that takes every job but one. */
function startWithOneThatWaits(
  t: TestContext,
  directory: string,
  fs: JournalFs,
): { deferrer: Deferrer; logger: TestLogger } {
  const sink = new TestSink();
  sink.answer = (batch) =>
    batch.map(({ json }) => (json === '"waits"' ? retry('later', 60_000) : undefined));
  const logger = new TestLogger();
  const deferrer = createDefer<string>({
    sinks: { test: { sink, batch: { waitMs: 0 } } },
    journal: { directory, fs, segmentBytes: 65_536, replayWindowMs: 0 },
    handleSignals: false,
    logger,
  });
  t.after(() => deferrer.close({ drainMs: 0 }));
  return { deferrer, logger };
}

describe('a full disk', () => {
  for (const written of [0, 7, 'half'] as const) {
    test(`that takes ${written} of a write: nothing is acknowledged, nothing before is lost`, async (t) => {
      const directory = temporaryFolder(t);
      let isFull = false;
      const fs: JournalFs = {
        ...nodeFs,
        writeSync(fd, bytes, offset, length, position) {
          if (!isFull) return nodeFs.writeSync(fd, bytes, offset, length, position);
          const part = written === 'half' ? length >> 1 : written;
          if (part > 0 && length > part) return nodeFs.writeSync(fd, bytes, offset, part, position);
          throw Object.assign(new Error('ENOSPC: no space left on device, write'), {
            code: 'ENOSPC',
          });
        },
      };
      const { deferrer, sink, logger } = start(t, directory, fs);
      sink.answer = () => {
        throw new Error('away');
      };
      await deferrer.defer(job, 'before', { level: 'disk' }).acknowledged();
      isFull = true;
      for (const level of ['process', 'disk'] as const) {
        const refused = deferrer.defer(job, `full ${level}`, { level }).acknowledged();
        await assert.rejects(refused, { code: 'ERR_REDLINE_DEFER_JOURNAL', message: /ENOSPC/ });
      }
      isFull = false;
      await deferrer.defer(job, 'after', { level: 'disk' }).acknowledged();
      await deferrer.close({ drainMs: 0 });
      assert.match(logger.lines.join('\n'), /cannot be written: ENOSPC/);
      assert.match(logger.lines.join('\n'), /can be written again/);

      const next = start(t, directory, nodeFs);
      await until('the jobs', () =>
        ['before', 'after'].every((each) => next.sink.data.includes(each)),
      );
    });
  }

  test("is accepted by 'degrade': kept in memory, and reported", async (t) => {
    const fs: JournalFs = {
      ...nodeFs,
      writeSync() {
        throw new Error('ENOSPC');
      },
    };
    const { deferrer, sink, logger } = start(t, temporaryFolder(t), fs, 'degrade');
    await deferrer.defer(job, 1, { level: 'disk' }).acknowledged();
    await until('the job', () => sink.data.length === 1);
    assert.match(logger.lines.join('\n'), /ENOSPC/);
  });

  test("and 'degrade': what memory has no room for is refused, and nothing acknowledged is lost", async (t) => {
    const { disk, fs } = fillableDisk();
    const sink = new TestSink();
    sink.answer = () => {
      throw new Error('away');
    };
    const deferrer = createDefer<string>({
      sinks: {
        test: { sink, maxPending: 10, batch: { waitMs: 0 }, breaker: { minMs: 1, maxMs: 2 } },
      },
      journal: { directory: temporaryFolder(t), fs, onFailure: 'degrade' },
      handleSignals: false,
      logger: false,
    });
    t.after(() => deferrer.close());
    await deferrer.ready();
    disk.isFull = true;
    const acknowledged: number[] = [];
    for (let n = 0; n < 50; n++) {
      try {
        await deferrer.defer(job, n, { level: n % 2 === 0 ? 'process' : 'disk' }).acknowledged();
        acknowledged.push(n);
      } catch {
        // Refused, which is what is true.
      }
    }
    assert.equal(acknowledged.length, 10);
    const seen = new Set<unknown>();
    sink.answer = (batch) => batch.forEach(({ json }) => seen.add(JSON.parse(json)));
    await until('all of them', () => acknowledged.every((n) => seen.has(n)));
    disk.isFull = false;
  });

  test("and 'block': so many jobs wait for room as maxPending says, and who gave up waits no more", async (t) => {
    const sink = new TestSink();
    sink.answer = () => {
      throw new Error('away');
    };
    const deferrer = createDefer<string>({
      sinks: {
        test: { sink, maxPending: 5, overflow: 'block', breaker: { minMs: 1, maxMs: 2 } },
      },
      journal: { directory: temporaryFolder(t), maxBytes: 500, segmentBytes: 100 },
      acknowledgeTimeoutMs: 50,
      handleSignals: false,
      logger: false,
    });
    t.after(() => deferrer.close({ drainMs: 0 }));
    for (let n = 0; n < 8; n++) {
      await deferrer
        .defer(job, 'x'.repeat(50), { level: 'process' })
        .acknowledged()
        .catch(() => {});
    }
    for (let round = 0; round < 3; round++) {
      const waiting = Array.from({ length: 5 }, () => deferrer.defer(job, 1, { level: 'process' }));
      assert.throws(() => deferrer.defer(job, 1, { level: 'process' }), {
        code: 'ERR_REDLINE_DEFER_FULL',
      });
      const outcomes = await Promise.allSettled(waiting.map((each) => each.acknowledged()));
      for (const outcome of outcomes) {
        assert.equal(outcome.status, 'rejected');
        assert.equal(
          (outcome.reason as { code: string }).code,
          'ERR_REDLINE_DEFER_NOT_ACKNOWLEDGED',
        );
      }
    }
  });

  test('has what spilled to it counted as lost, and the queue goes on', async (t) => {
    const { disk, fs } = fillableDisk();
    const sink = new TestSink();
    const sinkOptions = { sink, maxPending: 2, batch: { waitMs: 0, jobs: 1 }, inFlight: 1 };
    const deferrer = createDefer<string>({
      sinks: { test: sinkOptions },
      journal: { directory: temporaryFolder(t), fs },
      handleSignals: false,
      logger: false,
    });
    t.after(() => deferrer.close());
    await deferrer.defer(job, 0, { level: 'process' }).acknowledged();
    await until('the first', () => sink.data.length === 1);
    sink.isPaused = true;
    disk.isFull = true;
    for (const n of [1, 2, 3, 4]) deferrer.defer(job, n);
    await new Promise((resolve) => setImmediate(resolve));
    disk.isFull = false;
    sink.resume();
    const { stats } = deferrer.queues.get('test')!;
    await until('the count', () => stats.dropped.unreadable === 2);
    deferrer.defer(job, 5);
    await until('the next', () => sink.data.includes(5));
    assert.deepEqual(sink.data, [0, 1, 2, 5]);
  });

  test('is no fuller for the files whose jobs are done: they go without a checkpoint', async (t) => {
    const directory = temporaryFolder(t);
    const { disk, fs } = fillableDisk();
    const sink = new TestSink();
    const deferrer = createDefer<string>({
      sinks: { test: sink },
      journal: { directory, fs, segmentBytes: 1_000 },
      handleSignals: false,
      logger: false,
    });
    t.after(() => deferrer.close());
    sink.isPaused = true;
    for (let n = 0; n < 20; n++) {
      await deferrer.defer(job, 'x'.repeat(200), { level: 'process' }).acknowledged();
    }
    const segments = (): number =>
      readdirSync(directory, { recursive: true }).filter((name) => String(name).endsWith('.seg'))
        .length;
    assert.ok(segments() > 3);
    disk.isFull = true;
    sink.resume();
    await until('the files to go', () => segments() === 1);
    disk.isFull = false;
  });

  test('for a checkpoint alone is reported once, however long it lasts', async (t) => {
    const paths = new Map<number, string>();
    let checkpoints = 0;
    const fs: JournalFs = {
      ...nodeFs,
      openSync(path, flags) {
        const fd = nodeFs.openSync(path, flags);
        paths.set(fd, path);
        return fd;
      },
      writeSync(fd, ...args) {
        if (!paths.get(fd)!.includes('checkpoint')) return nodeFs.writeSync(fd, ...args);
        checkpoints++;
        throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
      },
    };
    const sink = new TestSink();
    const logger = new TestLogger();
    const deferrer = createDefer<string>({
      sinks: { test: { sink, retry: { minMs: 100_000, maxMs: 100_000 } } },
      journal: { directory: temporaryFolder(t), fs, segmentBytes: 300, replayWindowMs: 0 },
      handleSignals: false,
      logger,
    });
    t.after(() => deferrer.close({ drainMs: 0 }));
    // The first one keeps its file, and those behind it are to go.
    sink.answer = (batch) =>
      batch.map(({ json }) => (json === '0' ? retry(new Error('later')) : undefined));
    let n = 0;
    await until('some checkpoints', async () => {
      await deferrer.defer(job, n++, { level: 'process' }).acknowledged();
      return checkpoints >= 3;
    });
    assert.equal(logger.lines.length, 1, logger.lines.join('\n'));
    assert.match(logger.lines[0]!, /has no new checkpoint: ENOSPC/);
  });

  test('leaves jobs of memory whole that wait there for another try', async (t) => {
    let isFull = false;
    const fs: JournalFs = {
      ...nodeFs,
      writeSync(...args) {
        if (isFull) throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
        return nodeFs.writeSync(...args);
      },
    };
    const directory = temporaryFolder(t);
    const sink = new TestSink();
    const logger = new TestLogger();
    const begin = (answering: TestSink, file: JournalFs) =>
      createDefer<string>({
        sinks: { test: { sink: answering, maxPending: 20, retry: { minMs: 1e5, maxMs: 1e5 } } },
        journal: { directory, fs: file },
        handleSignals: false,
        logger,
      });
    const first = begin(sink, fs);
    await first.defer(job, 'before', { level: 'process' }).acknowledged();
    sink.answer = (batch) => batch.map(() => retry(new Error('later')));
    isFull = true;
    // Half of what may wait at all waits for another try without a disk.
    for (let n = 0; n < 10; n++) first.defer(job, n);
    await until('one try of each', () => sink.batches.flat().length === 11);
    await until('a write that fails', () => logger.lines.length > 0);
    isFull = false;
    await first.close({ drainMs: 0 });
    const next = new TestSink();
    const second = begin(next, nodeFs);
    t.after(() => second.close({ drainMs: 0 }));
    // The end of the first job may not have been written: then it comes again.
    const received = () => new Set(next.batches.flat().map(({ json }) => json));
    const expected = Array.from({ length: 10 }, (_, n) => String(n));
    await until(
      'all of them',
      () => [...received()].filter((json) => json !== '"before"').length >= 10,
    );
    assert.deepEqual([...received()].filter((json) => json !== '"before"').toSorted(), expected);
  });

  test('makes memory grow for nobody: what has no room there is refused', async (t) => {
    const fs: JournalFs = {
      ...nodeFs,
      writeSync() {
        throw new Error('ENOSPC');
      },
    };
    const { deferrer, sink } = start(t, temporaryFolder(t), fs);
    sink.isPaused = true;
    const queue = deferrer.queues.get('test')!;
    for (let n = 0; n < 10_000; n++) deferrer.defer(job, n);
    assert.throws(() => deferrer.defer(job, 'more'), { code: 'ERR_REDLINE_DEFER_FULL' });
    await assert.rejects(
      deferrer.defer(job, 'more', { level: 'process' }).acknowledged(),
      /ENOSPC/,
    );
    assert.equal(queue.loaded, 10_000);
    assert.equal(queue.stats.dropped.overflow, 1);
    sink.resume();
  });

  test('of the kernel: a process at its limit acknowledges only what is written', async (t) => {
    if (process.platform === 'win32') return t.skip('There is no ulimit.');
    const directory = temporaryFolder(t);
    const source = JSON.stringify(join(import.meta.dirname, '../../src/index.ts'));
    const program = `
      const { createDefer, defineJob } = await import(${source});
      const away = { kind: 'away', send: () => Promise.reject(new Error('away')) };
      const deferrer = createDefer({ sinks: { test: away }, journal: { directory: ${JSON.stringify(directory)} }, logger: false });
      const job = defineJob('job');
      let refused = 0;
      for (let n = 0; refused < 20; n++) {
        await deferrer.defer(job, n + 'x'.repeat(500), { level: 'process' }).acknowledged().then(
          () => console.log('acknowledged', n),
          () => refused++,
        );
      }
      process.kill(process.pid, 'SIGKILL');
    `;
    // Blocks of 512 bytes or of 1 KiB, as the shell has it; the signal would end the process.
    const script = `trap '' XFSZ; ulimit -f 64; exec "$0" --input-type=module -e "$1"`;
    const child = spawn('sh', ['-c', script, process.execPath, program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    await once(child, 'close');
    const acknowledged = [...output.matchAll(/acknowledged (\d+)/g)].map(([, n]) => n!);
    assert.ok(acknowledged.length > 10, output);
    const { sink } = start(t, directory, nodeFs);
    const received = (): Set<string> =>
      new Set(sink.data.map((data) => /^\d+/.exec(data as string)![0]));
    await until('all of them', () => acknowledged.every((n) => received().has(n)));
  });
});

test('a file that fails to close has lost nothing that was synced', async (t) => {
  let isFailing = false;
  const fs: JournalFs = {
    ...nodeFs,
    closeSync(fd) {
      nodeFs.closeSync(fd);
      if (isFailing) throw new Error('EIO: i/o error, close');
    },
  };
  const deferrer = createDefer<string>({
    sinks: { test: new TestSink() },
    journal: { directory: temporaryFolder(t), fs, segmentBytes: 300 },
    handleSignals: false,
    logger: false,
  });
  t.after(() => {
    isFailing = false;
    return deferrer.close();
  });
  await deferrer.ready();
  isFailing = true;
  for (let n = 0; n < 10; n++) {
    await deferrer.defer(job, 'x'.repeat(200), { level: 'disk' }).acknowledged();
  }
});

test('the folder of a journal is itself synced before a job counts as on disk', async (t) => {
  const directory = join(temporaryFolder(t), 'new');
  const names = new Map<number, string>();
  const synced = new Set<string>();
  const fs: JournalFs = {
    ...nodeFs,
    openSync(path, flags) {
      const fd = nodeFs.openSync(path, flags);
      names.set(fd, path);
      return fd;
    },
    fdatasync(fd, callback) {
      synced.add(names.get(fd)!);
      nodeFs.fdatasync(fd, callback);
    },
    fdatasyncSync(fd) {
      synced.add(names.get(fd)!);
      nodeFs.fdatasyncSync(fd);
    },
  };
  const { deferrer } = start(t, directory, fs);
  await deferrer.defer(job, 1, { level: 'disk' }).acknowledged();
  assert.ok(synced.has(directory));
  assert.ok(synced.has(dirname(directory)));
});

test('a job that waits does not keep the files of those that a loop defers one by one behind it', async (t) => {
  const directory = temporaryFolder(t);
  const { deferrer } = startWithOneThatWaits(t, directory, nodeFs);
  await deferrer.defer(job, 'waits', { level: 'process' }).acknowledged();
  const hasSecond = (): boolean =>
    readdirSync(directory, { recursive: true }).some((name) => String(name).endsWith('2.seg'));
  let wasThere = false;
  for (let n = 0; n < 50_000; n++) {
    // No pause between two: the next one is there whenever the journal looks for files to remove.
    await deferrer.defer(job, 'x'.repeat(5_000), { level: 'process' }).acknowledged();
    if (n % 100 > 0) continue;
    if (wasThere && !hasSecond()) return;
    wasThere ||= hasSecond();
  }
  assert.fail('its file is still there');
});

describe('a sync that fails', () => {
  test('is not trusted again: its jobs are not acknowledged, and a new file begins', async (t) => {
    const directory = temporaryFolder(t);
    let isFailing = false;
    const synced: number[] = [];
    const fs: JournalFs = {
      ...nodeFs,
      fdatasync(fd, callback) {
        if (isFailing) return setImmediate(callback, new Error('EIO: i/o error, fdatasync'));
        synced.push(fd);
        nodeFs.fdatasync(fd, callback);
      },
    };
    const { deferrer, sink, logger } = start(t, directory, fs);
    sink.answer = () => {
      throw new Error('away');
    };
    await deferrer.defer(job, 'before', { level: 'disk' }).acknowledged();
    isFailing = true;
    const failed = deferrer.defer(job, 'failed', { level: 'disk' }).acknowledged();
    await assert.rejects(failed, /EIO/);
    isFailing = false;
    const files = (): number => deferrer.journalBytes!;
    const bytes = files();
    await deferrer.defer(job, 'after', { level: 'disk' }).acknowledged();
    assert.ok(files() > bytes);
    assert.match(logger.lines.join('\n'), /cannot be synced: EIO/);
    await deferrer.close({ drainMs: 0 });
    const next = start(t, directory, nodeFs);
    await until('the jobs', () =>
      ['before', 'after'].every((each) => next.sink.data.includes(each)),
    );
  });

  test('for good is reported once, and makes no file for every job', async (t) => {
    const directory = temporaryFolder(t);
    let isFailing = true;
    const fs: JournalFs = {
      ...nodeFs,
      fdatasync(fd, callback) {
        if (isFailing) setImmediate(callback, new Error('EIO'));
        else nodeFs.fdatasync(fd, callback);
      },
    };
    const { deferrer, logger } = start(t, directory, fs);
    for (let n = 0; n < 200; n++) {
      await assert.rejects(deferrer.defer(job, n, { level: 'disk' }).acknowledged(), /EIO/);
    }
    const warnings = (): string[] => logger.lines.filter((line) => /journal/.test(line));
    assert.deepEqual(warnings().length, 1, warnings().join('\n'));
    const files = readdirSync(directory, { recursive: true }).map(String);
    assert.ok(files.filter((name) => name.endsWith('.seg')).length < 50, files.join('\n'));
    isFailing = false;
    await deferrer.defer(job, 'well', { level: 'disk' }).acknowledged();
    await until('the good news', () => warnings().length === 2);
    assert.match(warnings()[1]!, /can be written again/);
  });

  test('of the folder is not taken for done by the next one', async (t) => {
    const names = new Map<number, string>();
    const synced: string[] = [];
    let failures = 2;
    const fs: JournalFs = {
      ...nodeFs,
      openSync(path, flags) {
        const fd = nodeFs.openSync(path, flags);
        names.set(fd, path);
        return fd;
      },
      fdatasync(fd, callback) {
        const name = names.get(fd)!;
        const isFolder = !name.endsWith('.seg');
        if (isFolder && failures-- > 0) return setImmediate(callback, new Error('EIO'));
        if (isFolder) synced.push(name);
        nodeFs.fdatasync(fd, callback);
      },
    };
    const { deferrer } = start(t, temporaryFolder(t), fs);
    for (let n = 0; n < 2; n++) {
      await assert.rejects(deferrer.defer(job, n, { level: 'disk' }).acknowledged(), /EIO/);
    }
    await deferrer.defer(job, 2, { level: 'disk' }).acknowledged();
    assert.ok(synced.length > 0);
  });

  test('of the folder is one, too, where it cannot be opened for want of descriptors', async (t) => {
    let isShort = false;
    const fs: JournalFs = {
      ...nodeFs,
      openSync(path, flags) {
        if (isShort && flags === 'r' && !path.endsWith('.seg')) {
          throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
        }
        return nodeFs.openSync(path, flags);
      },
    };
    const { deferrer } = start(t, temporaryFolder(t), fs);
    await deferrer.ready();
    isShort = true;
    await deferrer.defer(job, 0, { level: 'process' }).acknowledged();
    await assert.rejects(deferrer.defer(job, 1, { level: 'disk' }).acknowledged(), /EMFILE/);
    isShort = false;
    await deferrer.defer(job, 2, { level: 'disk' }).acknowledged();
  });

  for (const what of ['EMFILE: too many open files', 'EIO: i/o error, fdatasync']) {
    test(`of the folder behind a checkpoint (${what}) removes nothing that only the checkpoint knows`, async (t) => {
      const directory = temporaryFolder(t);
      const ofCheckpoint = new Set<number>();
      const error = Object.assign(new Error(what), { code: what.split(':')[0] });
      let isFailing = true;
      const failures: number[] = [];
      const fs: JournalFs = {
        ...nodeFs,
        openSync(path, flags) {
          const isIt = flags === 'r' && existsSync(join(path, 'checkpoint'));
          if (isIt && isFailing && error.code === 'EMFILE') {
            failures.push(-1);
            throw error;
          }
          const fd = nodeFs.openSync(path, flags);
          if (isIt) ofCheckpoint.add(fd);
          else ofCheckpoint.delete(fd);
          return fd;
        },
        fdatasync(fd, callback) {
          if (!ofCheckpoint.has(fd) || !isFailing) return nodeFs.fdatasync(fd, callback);
          failures.push(fd);
          setImmediate(callback, error);
        },
      };
      const { deferrer, logger } = startWithOneThatWaits(t, directory, fs);
      const files = (): string[] =>
        readdirSync(directory, { recursive: true })
          .map(String)
          .filter((name) => name.endsWith('.seg'));
      const deferOne = async (): Promise<void> => {
        await deferrer.defer(job, 'x'.repeat(30_000), { level: 'process' }).acknowledged();
      };
      await deferrer.defer(job, 'waits', { level: 'process' }).acknowledged();
      let before: string[] = [];
      while (failures.length < 2) {
        if (failures.length === 0) before = files();
        await deferOne();
      }
      assert.ok(before.length > 3, before.join('\n'));
      assert.deepEqual(before.slice(0, 3), files().slice(0, 3));
      const warnings = logger.lines.filter((line) => line.includes('has no new checkpoint'));
      assert.equal(warnings.length, 1, logger.lines.join('\n'));
      isFailing = false;
      await until('the room', async () => {
        await deferOne();
        return !files().includes(before[1]!);
      });
    });
  }

  test('is none because descriptors ran out behind the first job: the folder is open by then', async (t) => {
    let isShort = false;
    const fs: JournalFs = {
      ...nodeFs,
      openSync(path, flags) {
        if (isShort)
          throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
        return nodeFs.openSync(path, flags);
      },
    };
    const { deferrer } = start(t, temporaryFolder(t), fs);
    await deferrer.ready();
    await deferrer.defer(job, 0, { level: 'process' }).acknowledged();
    isShort = true;
    for (const level of ['process', 'disk', 'process', 'process', 'disk'] as const) {
      await deferrer.defer(job, 1, { level }).acknowledged();
    }
    isShort = false;
  });

  test('fails who wrote while it ran, too: their bytes may lie in the pages that failed', async (t) => {
    const syncs: ((error: Error | null) => void)[] = [];
    let isHeld = true;
    const fs: JournalFs = {
      ...nodeFs,
      fdatasync(fd, callback) {
        if (isHeld) syncs.push(callback);
        else nodeFs.fdatasync(fd, callback);
      },
    };
    const { deferrer } = start(t, temporaryFolder(t), fs);
    const first = deferrer.defer(job, 1, { level: 'disk' }).acknowledged();
    await until('the sync', () => syncs.length > 0);
    const second = deferrer.defer(job, 2, { level: 'disk' });
    // It is written when one that came later is.
    await deferrer.defer(job, 3, { level: 'process' }).acknowledged();
    isHeld = false;
    for (const callback of syncs) callback(new Error('EIO'));
    await assert.rejects(first, /EIO/);
    await assert.rejects(second.acknowledged(), /EIO/);
    await deferrer.defer(job, 4, { level: 'disk' }).acknowledged();
  });

  test('fails everybody who shared it, and nobody else', async (t) => {
    let calls = 0;
    const fs: JournalFs = {
      ...nodeFs,
      fdatasync(fd, callback) {
        if (++calls === 1) return setImmediate(callback, new Error('EIO'));
        nodeFs.fdatasync(fd, callback);
      },
    };
    const { deferrer } = start(t, temporaryFolder(t), fs);
    const outcomes = await Promise.allSettled(
      ['process', 'disk', 'disk'].map((level) =>
        deferrer.defer(job, 1, { level: level as 'disk' }).acknowledged(),
      ),
    );
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected'],
    );
  });
});

/** A disk that takes nothing while it is full. */
function fillableDisk(): { disk: { isFull: boolean }; fs: JournalFs } {
  const disk = { isFull: false };
  const fs: JournalFs = {
    ...nodeFs,
    writeSync(...args) {
      if (disk.isFull) throw new Error('ENOSPC');
      return nodeFs.writeSync(...args);
    },
  };
  return { disk, fs };
}
