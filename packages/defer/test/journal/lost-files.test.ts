// What a journal has lost, and what it has not: files that are gone, that the disk does not give, that were to go.
import assert from 'node:assert/strict';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { createDefer } from '../../src/create-defer.ts';
import type { Deferrer } from '../../src/deferrer.ts';
import { defineJob } from '../../src/job/job.ts';
import { nodeFs, type JournalFs } from '../../src/journal/journal-fs.ts';
import { retry } from '../../src/sink.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestLogger, TestSink } from '../harness.ts';

const job = defineJob<unknown>('job');

interface Life {
  readonly deferrer: Deferrer;
  readonly sink: TestSink;
  readonly logger: TestLogger;
}

function live(t: TestContext, directory: string, fs: Partial<JournalFs> = {}): Life {
  const sink = new TestSink();
  const logger = new TestLogger();
  const deferrer = createDefer<string>({
    sinks: {
      test: { sink, maxPending: 10, batch: { waitMs: 0 }, breaker: { minMs: 1, maxMs: 2 } },
    },
    journal: {
      directory,
      segmentBytes: 1_000,
      adoptEveryMs: 5,
      replayWindowMs: 0,
      fs: { ...nodeFs, ...fs },
    },
    handleSignals: false,
    logger,
  });
  t.after(() => deferrer.close({ drainMs: 0 }));
  return { deferrer, sink, logger };
}

const away = (): never => {
  throw new Error('away');
};

/** A life with its sink away, and 60 acknowledged jobs in some five files. */
async function fill(life: Life): Promise<void> {
  life.sink.answer = away;
  for (let n = 0; n < 60; n++) {
    await life.deferrer.defer(job, n, { level: 'process' }).acknowledged();
  }
}

function segmentsIn(directory: string): string[] {
  const name = readdirSync(directory).find((each) => each.includes('~'));
  const folder = join(directory, name!);
  return readdirSync(folder)
    .filter((each) => each.endsWith('.seg'))
    .sort()
    .map((each) => join(folder, each));
}

const received = ({ sink }: Life): number => new Set(sink.data).size;

describe('a segment that cannot be read back', () => {
  test('is waited for by nobody: all else is delivered, and it is, once it can be', async (t) => {
    const directory = temporaryFolder(t);
    let bad: string | undefined;
    const life = live(t, directory, {
      openSync(path, flags) {
        if (path === bad && flags === 'r') {
          throw Object.assign(new Error('EIO: i/o error, open'), { code: 'EIO' });
        }
        return nodeFs.openSync(path, flags);
      },
    });
    await fill(life);
    bad = segmentsIn(directory)[2];
    const before = life.sink.batches.length;
    life.sink.answer = () => undefined;
    const queue = life.deferrer.queues.get('test')!;
    await until('all the others', () => queue.depth > 0 && queue.depth < 20 && queue.loaded === 0);
    assert.ok(life.sink.batches.length > before);
    await life.deferrer.defer(job, 'new', { level: 'process' }).acknowledged();
    await until('a new one', () => life.sink.data.includes('new'));
    // It is not waited for either.
    await life.deferrer.drain();
    assert.equal(
      life.logger.lines.filter((line) => /cannot be read back: EIO/.test(line)).length,
      1,
    );
    bad = undefined;
    await until('the rest', () => received(life) === 61);
    assert.equal(queue.depth, 0);
    assert.equal(queue.stats.dropped.unreadable, 0);
  });

  test('because somebody removed it is reported, its jobs are counted, and all else is delivered', async (t) => {
    const directory = temporaryFolder(t);
    const life = live(t, directory);
    await fill(life);
    unlinkSync(segmentsIn(directory)[2]!);
    life.sink.answer = () => undefined;
    const queue = life.deferrer.queues.get('test')!;
    await until('all there is', () => queue.depth === 0);
    assert.ok(queue.stats.dropped.unreadable > 0);
    assert.equal(received(life) + queue.stats.dropped.unreadable, 60);
    assert.match(life.logger.lines.join('\n'), /cannot be read back: ENOENT/);
  });
});

describe('of a segment that is damaged while its process lives', () => {
  // A chunk that is read back has 256 KiB.
  for (const [what, lengths] of Object.entries({
    'larger than what is read at once': [400_000, 700_000],
    'around the end of what is read at once': Array.from(
      { length: 16 },
      (_, n) => 261_900 + n * 20,
    ),
  })) {
    test(`the job in the damage is lost, which is reported, and those behind it are done: ${what}`, async (t) => {
      const directory = temporaryFolder(t);
      const life = live(t, directory);
      await fill(life);
      const large = what.startsWith('larger');
      for (const length of lengths) {
        // In one write, and so in one segment.
        await Promise.all([
          life.deferrer.defer(job, `bad-${large ? '' : 'x'.repeat(length)}`, { level: 'process' }),
          life.deferrer.defer(job, `good-${length}-${large ? 'x'.repeat(length) : ''}`, {
            level: 'process',
          }),
          life.deferrer.defer(job, `last-${length}`, { level: 'process' }).acknowledged(),
        ]);
      }
      let damaged = 0;
      for (const path of segmentsIn(directory)) {
        const bytes = readFileSync(path);
        const bad = bytes.indexOf('"bad-');
        if (bad === -1) continue;
        // The magic of its frame: its length is unknown.
        bytes[bytes.lastIndexOf(0xd7, bad)]! ^= 1;
        writeFileSync(path, bytes);
        damaged++;
      }
      assert.equal(damaged, lengths.length);
      life.sink.answer = () => undefined;
      const queue = life.deferrer.queues.get('test')!;
      await until('all there is', () => queue.depth === 0);
      assert.equal(queue.stats.dropped.unreadable, lengths.length);
      assert.match(life.logger.lines.join('\n'), /cannot be read back/);
      assert.equal(received(life), 60 + 2 * lengths.length);
    });
  }
});

describe('at the next start, of a segment', () => {
  const harm: Record<string, { do: (path: string) => void; reported: RegExp; kept: boolean }> = {
    'that is a folder': {
      do(path) {
        unlinkSync(path);
        mkdirSync(path);
      },
      reported: /00000003\.seg cannot be read; it is kept as damaged-\*/,
      kept: true,
    },
    'that is a link to nowhere': {
      do(path) {
        unlinkSync(path);
        symlinkSync('/nowhere', path);
      },
      reported: /00000003\.seg cannot be read; it is kept as damaged-\*/,
      kept: true,
    },
    'that was removed': {
      do: unlinkSync,
      reported: /00000003\.seg is missing or empty, with up to \d+ jobs/,
      kept: false,
    },
    'that is empty': {
      do: (path) => truncateSync(path, 0),
      reported: /00000003\.seg is missing or empty, with up to \d+ jobs/,
      kept: false,
    },
  };
  for (const [what, { do: damage, reported, kept }] of Object.entries(harm)) {
    test(`${what}, the loss is reported, and all else is delivered`, async (t) => {
      const directory = temporaryFolder(t);
      const first = live(t, directory);
      await fill(first);
      await first.deferrer.close({ drainMs: 0 });
      const path = segmentsIn(directory)[2]!;
      damage(path);
      const next = live(t, directory);
      await next.deferrer.ready();
      const queue = next.deferrer.queues.get('test')!;
      await until('all the others', () => queue.depth === 0 && received(next) > 30);
      assert.ok(received(next) < 60);
      assert.match(next.logger.lines.join('\n'), reported);
      assert.doesNotMatch(next.logger.lines.join('\n'), /none of it was acknowledged/);
      await next.deferrer.close();
      const left = readdirSync(directory).filter((name) => name !== 'dead');
      assert.equal(left.length, kept ? 1 : 0, left.join());
    });
  }

  test('that the disk was too full to open, nothing is reported: no job was in it', async (t) => {
    const directory = temporaryFolder(t);
    let isFull = false;
    const first = live(t, directory, {
      openSync(path, flags) {
        if (isFull && flags === 'wx') throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
        return nodeFs.openSync(path, flags);
      },
    });
    await fill(first);
    isFull = true;
    for (let n = 0; n < 30; n++) {
      await first.deferrer
        .defer(job, n, { level: 'process' })
        .acknowledged()
        .catch(() => {});
    }
    isFull = false;
    await fill(first);
    await first.deferrer.close({ drainMs: 0 });
    const next = live(t, directory);
    await until('the jobs', () => next.sink.data.length >= 120);
    assert.doesNotMatch(next.logger.lines.join('\n'), /missing/);
  });
});

test('a name in the directory that cannot be looked at is reported once, and ends nothing', async (t) => {
  const directory = temporaryFolder(t);
  const name = 'abc-123~1-1-abcdef';
  symlinkSync(name, join(directory, name));
  let looks = 0;
  const life = live(t, directory, {
    readdirSync(path) {
      if (path === directory) looks++;
      return nodeFs.readdirSync(path);
    },
  });
  await life.deferrer.ready();
  await life.deferrer.defer(job, 1, { level: 'process' }).acknowledged();
  await until('more looks at its folder', () => looks > 5);
  const reported = life.logger.lines.filter((line) => /ELOOP/.test(line));
  assert.equal(reported.length, 1, reported.join());
});

test('a kill between a checkpoint and the removal of what it leaves out has nothing done twice', async (t) => {
  const directory = temporaryFolder(t);
  const copy = join(temporaryFolder(t), 'copy');
  let hasCheckpoint = false;
  const first = live(t, directory, {
    renameSync(from, to) {
      nodeFs.renameSync(from, to);
      hasCheckpoint ||= to.endsWith('checkpoint');
    },
    // As if it was killed: nothing is removed behind a checkpoint.
    unlinkSync(path) {
      if (!hasCheckpoint || !path.endsWith('.seg')) nodeFs.unlinkSync(path);
    },
  });
  first.sink.answer = (batch) =>
    batch.map(({ json }) => (json === '0' ? retry(new Error('later'), 1_000_000) : undefined));
  for (let n = 0; n < 60; n++) {
    await first.deferrer.defer(job, n, { level: 'process' }).acknowledged();
  }
  await until('a checkpoint', () => hasCheckpoint);
  await until('the jobs', () => received(first) === 60);
  const name = readdirSync(directory).find((each) => each.includes('~'));
  mkdirSync(copy);
  // The marks behind the checkpoint are not what this is about.
  await first.deferrer.close({ drainMs: 0 });
  const left = readdirSync(directory).find((each) => each.includes('~'));
  renameSync(join(directory, left!), join(copy, `${name!.split('~')[0]}~free`));
  rmSync(directory, { recursive: true, force: true });
  const next = live(t, copy);
  await until('the one', () => next.sink.data.length > 0);
  await next.deferrer.drain();
  assert.deepEqual(next.sink.data, [0]);
});
