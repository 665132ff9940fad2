// A file of the journal that lost its end, while later ones exist: the jobs of its end are lost, and that is said.
import assert from 'node:assert/strict';
import { readdirSync, statSync, truncateSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createDefer } from '../../src/create-defer.ts';
import type { Deferrer } from '../../src/deferrer.ts';
import { defineJob } from '../../src/job/job.ts';
import { nodeFs, type JournalFs } from '../../src/journal/journal-fs.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestLogger, TestSink } from '../harness.ts';

const job = defineJob<number>('job', { level: 'process' });

function open(
  directory: string,
  logger: TestLogger,
  sink: TestSink,
  fs: JournalFs = nodeFs,
): Deferrer {
  return createDefer({
    sinks: { test: sink },
    journal: { directory, segmentBytes: 2_000, fs },
    logger,
    handleSignals: false,
    drainMs: 0,
  });
}

/** A journal of several files whose process is gone. Returns its folder. */
async function leaveJournal(directory: string): Promise<string> {
  const sink = new TestSink();
  sink.answer = () => {
    throw new Error('It is away.');
  };
  const first = open(directory, new TestLogger(), sink);
  await first.ready();
  for (let n = 0; n < 60; n++) await first.defer(job, n).acknowledged();
  await first.close();
  const name = readdirSync(directory).find((each) => each.endsWith('~free'))!;
  return join(directory, name);
}

async function readBy(
  t: TestContext,
  directory: string,
): Promise<{ sink: TestSink; logger: TestLogger }> {
  const [sink, logger] = [new TestSink(), new TestLogger()];
  const next = open(directory, logger, sink);
  t.after(() => next.close());
  await next.ready();
  await until('the jobs', () => next.queues.get('test')!.depth === 0);
  return { sink, logger };
}

const cuts: Readonly<Record<string, (file: string) => void>> = {
  'within a frame': (file) => truncateSync(file, statSync(file).size - 300),
  'at the end of a frame': (file) => {
    const bytes = readFileSync(file);
    // A frame begins with the same bytes as the first one, behind the header of the file.
    const frame = (statSync(file).size - 16) / 3;
    truncateSync(file, Math.max(17, Math.floor(bytes.length - frame)));
  },
  'by zeros': (file) => {
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0, bytes.length - 500));
  },
  'but for its header': (file) => truncateSync(file, 16),
};

for (const [how, cut] of Object.entries(cuts)) {
  test(`a file in the middle that is cut ${how} is reported with the number of its jobs, and kept`, async (t) => {
    const directory = temporaryFolder(t);
    const folder = await leaveJournal(directory);
    const files = readdirSync(folder)
      .filter((name) => name.endsWith('.seg'))
      .toSorted();
    assert.ok(files.length >= 3, `${files.length} files`);
    cut(join(folder, files[1]!));
    const { sink, logger } = await readBy(t, directory);
    const lost = 60 - sink.data.length;
    assert.ok(lost > 0);
    const warnings = logger.lines.filter((line) => line.startsWith('warn'));
    assert.equal(warnings.length, 1, warnings.join('\n'));
    assert.match(warnings[0]!, new RegExp(`\\b${lost} jobs`));
    assert.ok(!logger.lines.some((line) => line.includes('none of it was acknowledged')));
    if (how === 'but for its header') return;
    const kept = readdirSync(directory).filter((name) => name.startsWith('damaged-'));
    assert.equal(kept.length, 1);
  });
}

test('jobs that could not be written are not missed afterwards', async (t) => {
  const directory = temporaryFolder(t);
  let isFull = false;
  const fs: JournalFs = {
    ...nodeFs,
    writeSync(...args) {
      if (isFull) throw Object.assign(new Error('ENOSPC: no space'), { code: 'ENOSPC' });
      return nodeFs.writeSync(...args);
    },
  };
  const away = new TestSink();
  away.answer = () => {
    throw new Error('It is away.');
  };
  const first = open(directory, new TestLogger(), away, fs);
  await first.ready();
  const kept: number[] = [];
  for (let n = 0; n < 60; n++) {
    isFull = n % 20 > 15;
    await first
      .defer(job, n)
      .acknowledged()
      .then(
        () => kept.push(n),
        () => {},
      );
  }
  isFull = false;
  assert.ok(kept.length < 60);
  await first.close();
  const { logger } = await readBy(t, directory);
  assert.deepEqual(
    logger.lines.filter((line) => /missing|damaged|lost/.test(line)),
    [],
  );
});

for (const onFailure of ['reject', 'degrade'] as const) {
  test(`a disk that is full at the start keeps no job from being delivered: ${onFailure}`, async (t) => {
    const directory = temporaryFolder(t);
    await leaveJournal(directory);
    let isFull = true;
    const no = (): never => {
      throw Object.assign(new Error('ENOSPC: no space'), { code: 'ENOSPC' });
    };
    const fs: JournalFs = {
      ...nodeFs,
      mkdirSync(path) {
        if (isFull && path !== directory) no();
        nodeFs.mkdirSync(path);
      },
      writeSync: (...args) => (isFull ? no() : nodeFs.writeSync(...args)),
    };
    const [sink, logger] = [new TestSink(), new TestLogger()];
    const next = createDefer({
      sinks: { test: sink },
      journal: { directory, fs, onFailure },
      logger,
      handleSignals: false,
    });
    t.after(() => next.close());
    await next.ready();
    await until('the jobs', () => sink.data.length === 60);
    assert.match(logger.lines.join('\n'), /The disk is too full for the folder/);
    const during = next.defer(job, 100).acknowledged();
    if (onFailure === 'degrade') await during;
    else await assert.rejects(during, { code: 'ERR_REDLINE_DEFER_JOURNAL' });
    isFull = false;
    await until('room', async () => {
      const journals = (): number =>
        readdirSync(directory).filter((name) => name.includes('~')).length;
      if (journals() === 0) return false;
      return next
        .defer(job, 101)
        .acknowledged()
        .then(
          () => true,
          () => false,
        );
    });
    assert.ok(readdirSync(directory).some((name) => name.includes('~')));
  });
}
