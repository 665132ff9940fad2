import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { createDefer } from '../src/create-defer.ts';
import { defer } from '../src/defer.ts';
import type { Deferrer } from '../src/deferrer.ts';
import { DeferError, type DeferErrorCode } from '../src/errors.ts';
import { defineJob } from '../src/job/job.ts';
import type { DeferOptions } from '../src/options.ts';
import { scopes } from '../src/request/scope.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestSink } from './harness.ts';

const job = defineJob<unknown>('job');

async function withDeferrer(
  options: Partial<DeferOptions>,
  use: (deferrer: Deferrer, sink: TestSink) => unknown,
): Promise<void> {
  const sink = new TestSink();
  const deferrer = createDefer<string>({
    sinks: { test: sink },
    handleSignals: false,
    logger: false,
    ...options,
  });
  try {
    await use(deferrer, sink);
    // Whatever was refused, the next job is taken.
    deferrer.defer(job, 'next', { sink: [...deferrer.queues.keys()][0]! });
  } finally {
    await deferrer.close();
  }
}

function throwsCode(code: DeferErrorCode, pattern: RegExp, work: () => unknown): void {
  assert.throws(work, (error: unknown) => {
    assert.ok(error instanceof DeferError);
    assert.equal(error.code, code);
    assert.match(error.message, pattern);
    return true;
  });
}

function newerHeader(): Buffer {
  const header = Buffer.alloc(16);
  header.write('REDLINED');
  header.writeUInt32BE(3, 8);
  header.writeUInt32BE(crc32(header.subarray(0, 12)), 12);
  return header;
}

describe('a coded error at the call, for', () => {
  test('data that cannot be serialised', () =>
    withDeferrer({}, (deferrer, sink) => {
      const circular: { self?: unknown } = {};
      circular.self = circular;
      const code = 'ERR_REDLINE_DEFER_UNSERIALISABLE';
      throwsCode(code, /job job .*circular/s, () => deferrer.defer(job, circular));
      throwsCode(code, /BigInt/, () => deferrer.defer(job, 1n));
      throwsCode(code, /a function/, () => deferrer.defer(job, () => {}));
      throwsCode(code, /a symbol/, () => deferrer.defer(job, Symbol('s')));
      const throwing = {
        toJSON() {
          // oxlint-disable-next-line no-throw-literal -- an app may
          throw null;
        },
      };
      throwsCode(code, /job job .*null/, () => deferrer.defer(job, throwing));
      throwsCode(code, /options .*null/, () => deferrer.defer(job, 1, { options: throwing }));
      throwsCode(code, /options/, () => deferrer.defer(job, 1, { options: { big: 1n } }));
      assert.equal(deferrer.queues.get('test')!.depth, 0);
      assert.equal(sink.batches.length, 0);
    }));

  test('an unknown job', () =>
    withDeferrer({}, (deferrer) => {
      const code = 'ERR_REDLINE_DEFER_UNKNOWN_JOB';
      throwsCode(code, /"job"/, () => deferrer.defer('job' as never, 1));
      throwsCode(code, /defineJob/, () => deferrer.defer({ name: 'job' } as never, 1));
      throwsCode(code, /defer\.after/, () => deferrer.defer((() => {}) as never, 1));
    }));

  test('an unknown sink', () =>
    withDeferrer({ sinks: { a: new TestSink(), b: new TestSink() } }, (deferrer) => {
      const code = 'ERR_REDLINE_DEFER_UNKNOWN_SINK';
      throwsCode(code, /"c"\. Configured: "a", "b"/, () => deferrer.defer(job, 1, { sink: 'c' }));
      throwsCode(code, /names no sink/, () => deferrer.defer(job, 1));
    }));

  test('an oversized job', () =>
    withDeferrer({ maxJobBytes: 10 }, (deferrer) => {
      throwsCode('ERR_REDLINE_DEFER_TOO_LARGE', /12 characters .* maxJobBytes allows 10/, () =>
        deferrer.defer(job, '1234567890'),
      );
    }));

  test('a job larger than its sink takes', () => {
    const sink = Object.assign(new TestSink(), { maxJobBytes: 6 });
    return withDeferrer({ sinks: { small: sink } }, (deferrer) => {
      throwsCode('ERR_REDLINE_DEFER_TOO_LARGE', /the sink small allows 6/, () =>
        deferrer.defer(job, '1234567890'),
      );
    });
  });

  test('a job the sink refuses', () => {
    const sink = Object.assign(new TestSink(), {
      refuses: (name: string) => (name === 'job' ? undefined : 'no handler.'),
    });
    return withDeferrer({ sinks: { test: sink } }, (deferrer) => {
      throwsCode('ERR_REDLINE_DEFER_REFUSED', /sink test .* other: no handler/, () =>
        deferrer.defer(defineJob('other'), undefined),
      );
    });
  });

  test('a level that needs what is not there', () =>
    withDeferrer({}, (deferrer) => {
      const code = 'ERR_REDLINE_DEFER_LEVEL';
      throwsCode(code, /needs a journal/, () => deferrer.defer(job, 1, { level: 'disk' }));
      throwsCode(code, /outbox/, () => deferrer.defer(job, 1, { level: 'outbox' }));
      throwsCode(code, /closure .* disk/, () => {
        deferrer.after(() => {}, { level: 'disk' as 'memory' });
      });
    }));

  test('a wrong value at the call', () =>
    withDeferrer({}, (deferrer) => {
      const code = 'ERR_REDLINE_DEFER_OPTION';
      throwsCode(code, /level .* 'forever'/, () =>
        deferrer.defer(job, 1, { level: 'forever' as 'disk' }),
      );
      throwsCode(code, /when .* 'never'/, () =>
        deferrer.defer(job, 1, { when: 'never' as 'always' }),
      );
      throwsCode(code, /key .* 7/, () => deferrer.defer(job, 1, { key: 7 as never }));
      throwsCode(code, /key .* prototype/, () =>
        deferrer.defer(job, 1, { key: Object.create(null) as never }),
      );
      for (const options of [() => 1, { toJSON: () => undefined }, 'text', [1], null]) {
        throwsCode(code, /options must be an object that JSON/, () =>
          deferrer.defer(job, 1, { options: options as never }),
        );
      }
      throwsCode(code, /when .* 'never'/, () => {
        deferrer.after(() => {}, { when: 'never' as 'always' });
      });
    }));

  test('an option at the call of a name there is not', () =>
    withDeferrer({}, (deferrer) => {
      const code = 'ERR_REDLINE_DEFER_OPTION';
      const mistyped = { lvl: 'disk' } as never;
      throwsCode(code, /Unknown option "lvl" of defer\. Known options: key, level/, () =>
        deferrer.defer(job, 1, mistyped),
      );
      throwsCode(code, /Unknown option "lvl" of defer\.after\. Known options: level, when/, () => {
        deferrer.after(() => {}, mistyped);
      });
      throwsCode(code, /defer must be an object; got null/, () =>
        deferrer.defer(job, 1, null as never),
      );
    }));

  test('a wrong option', () => {
    const sinks = { test: new TestSink() };
    const code = 'ERR_REDLINE_DEFER_OPTION';
    const wrong: [Partial<DeferOptions>, RegExp][] = [
      [{ sinks: { test: {} as never } }, /sinks.test must be a sink/],
      [{ sinks: { test: { sink: sinks.test, inFlight: 0 } } }, /sinks.test.inFlight .* 0/],
      [{ sinks: { test: { sink: sinks.test, inFlight: 2, ordered: true } } }, /inFlight must be 1/],
      [{ sinks: { test: { sink: sinks.test, overflow: 'spill' } } }, /needs the option journal/],
      [{ sinks, level: 'ever' as 'disk' }, /level .* 'ever'/],
      [{ sinks, journal: { directory: '' } }, /journal.directory/],
      // A process that is alive may be five seconds late.
      [
        { sinks, journal: { directory: 'x', strangerTimeoutMs: 12_000 } },
        /15000 or more; got 12000/,
      ],
      [{ sinks, drainMs: -1 }, /drainMs .* -1/],
    ];
    for (const [options, pattern] of wrong) {
      throwsCode(code, pattern, () => createDefer<string>({ handleSignals: false, ...options }));
    }
  });

  test('an option of a name there is not', () => {
    const code = 'ERR_REDLINE_DEFER_OPTION';
    const sink = new TestSink();
    const journal = { directory: '/nowhere', maxByte: 1 };
    for (const [options, pattern] of [
      [{ jurnal: {} }, /Unknown option "jurnal" of createDefer\. Known options: sinks, .*journal/],
      [{ journal }, /Unknown option "maxByte" of journal\. Known options: directory/],
      [
        { sinks: { a: { sink, batchs: {} } } },
        /Unknown option "batchs" of sinks\.a\. Known options: sink, batch/,
      ],
      [{ sinks: { a: { sink, batch: { size: 1 } } } }, /Unknown option "size" of sinks\.a\.batch/],
      [{ sinks: { a: { sink, retry: 5 } } }, /of sinks\.a\.retry must be an object; got 5/],
      [{ sinks: { a: null } }, /sinks\.a must be a sink/],
      [undefined, /of createDefer must be an object/],
    ] as const) {
      throwsCode(code, pattern, () => createDefer(options as never));
    }
    throwsCode(code, /Unknown option "lvl" of defineJob/, () =>
      defineJob('x', { lvl: 1 } as never),
    );
  });

  test('a call where nothing says which deferrer is meant', async () => {
    const code = 'ERR_REDLINE_DEFER_NO_INSTANCE';
    throwsCode(code, /createDefer\(\) was not called/, () => defer(job, 1));
    await withDeferrer({}, () =>
      withDeferrer({}, () => {
        throwsCode(code, /There are 2/, () => defer(job, 1));
        assert.equal(scopes.getStore(), undefined);
      }),
    );
  });

  test('a deferrer that is closed', async () => {
    const deferrer = createDefer({ sinks: { test: new TestSink() }, handleSignals: false });
    await deferrer.close();
    throwsCode('ERR_REDLINE_DEFER_CLOSED', /closed/, () => deferrer.defer(job, 1));
    throwsCode('ERR_REDLINE_DEFER_CLOSED', /closed/, () => deferrer.after(() => {}));
  });

  test('a directory that cannot be used', (t) => {
    const file = join(temporaryFolder(t), 'file');
    writeFileSync(file, '');
    throwsCode('ERR_REDLINE_DEFER_JOURNAL', /file.*cannot be used/, () =>
      createDefer({
        sinks: { test: new TestSink() },
        journal: { directory: file },
        handleSignals: false,
      }),
    );
  });

  test('a journal of a newer version, which is left as it is', async (t) => {
    const directory = temporaryFolder(t);
    const folder = join(directory, 'abc-1~free');
    mkdirSync(folder);
    const newer = Buffer.concat([newerHeader(), Buffer.from('what only a newer version can read')]);
    writeFileSync(join(folder, '00000001.seg'), newer);
    const options = {
      sinks: { test: new TestSink() },
      journal: { directory, adoptEveryMs: 5 },
      handleSignals: false,
    };
    throwsCode('ERR_REDLINE_DEFER_JOURNAL_VERSION', /format 3, .* up to 2/, () =>
      createDefer(options),
    );
    assert.deepEqual(readdirSync(directory), ['abc-1~free']);
    assert.deepEqual(readFileSync(join(folder, '00000001.seg')), newer);
  });

  test('a journal of a newer version that comes later is reported, and left as it is', async (t) => {
    const directory = temporaryFolder(t);
    const lines: string[] = [];
    const deferrer = createDefer({
      sinks: { test: new TestSink() },
      journal: { directory, adoptEveryMs: 5 },
      handleSignals: false,
      logger: { warn: (line) => void lines.push(line), log: () => {} },
    });
    const folder = join(directory, 'being-made');
    mkdirSync(folder);
    writeFileSync(join(folder, '00000001.seg'), newerHeader());
    renameSync(folder, join(directory, 'abc-1~free'));
    await until('the line', () => lines.some((line) => line.includes('format 3')));
    assert.deepEqual(readdirSync(join(directory, 'abc-1~free')), ['00000001.seg']);
    await deferrer.close();
  });
});
