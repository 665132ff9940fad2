// Schedules: at their moments in any time zone, once for all processes of a directory, and made up for where none ran.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '@redline/services';
import { Pool } from 'pg';
import { createDefer } from '../src/create-defer.ts';
import type { Deferrer } from '../src/deferrer.ts';
import { defineJob } from '../src/job/job.ts';
import { Claims } from '../src/schedule/claims.ts';
import { cronTimes, everyTimes } from '../src/schedule/times.ts';
import { postgres } from '../src/sinks/postgres.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestClock, TestLogger, TestSink } from './harness.ts';

const { server, missing } = await startPostgres();
after(() => server?.stop());

const report = defineJob<{ to: string }>('report');
const tick = defineJob('tick');
const minuteMs = 60_000;

interface Start {
  readonly deferrer: Deferrer;
  readonly sink: TestSink;
  readonly logger: TestLogger;
}

async function start(t: TestContext, clock: TestClock, directory?: string): Promise<Start> {
  const sink = new TestSink();
  const logger = new TestLogger();
  const deferrer = createDefer({
    sinks: { test: sink },
    ...(directory !== undefined && { journal: { directory, adoptEveryMs: 1_000 } }),
    clock,
    logger,
    handleSignals: false,
  });
  t.after(() => deferrer.closeSync());
  await deferrer.ready();
  return { deferrer, sink, logger };
}

/* Writing is real: time passes for it in steps. */
async function pass(clock: TestClock, ms: number, isThere = (): boolean => true): Promise<void> {
  await clock.pass(ms);
  for (let step = 0; step < 10 || (step < 10_000 && !isThere()); step++) {
    await clock.pass(1);
    await sleep(1);
  }
}

function clockAt(iso: string): TestClock {
  const clock = new TestClock();
  clock.wallMs = Date.parse(iso);
  return clock;
}

function keysOf({ sink }: Start): (string | undefined)[] {
  return sink.batches.flat().map(({ key }) => key);
}

for (const hasJournal of [false, true]) {
  test(`a schedule defers its job at each of its moments, with that in the key, ${hasJournal ? 'with' : 'without'} a journal`, async (t) => {
    const clock = clockAt('2030-05-01T10:00:30.000Z');
    const started = await start(t, clock, hasJournal ? temporaryFolder(t) : undefined);
    const { deferrer, sink, logger } = started;
    const cron = { cron: '*/2 * * * *', name: 'every second minute' };
    const schedule = deferrer.schedule(report, { to: 'all' }, cron);
    const other = deferrer.schedule(tick, undefined, { everyMs: minuteMs });
    assert.deepEqual(schedule.next, new Date('2030-05-01T10:02:00.000Z'));
    await pass(clock, 30_000, () => sink.data.length === 1);
    assert.deepEqual(keysOf(started), ['tick@2030-05-01T10:01:00.000Z']);
    await pass(clock, minuteMs, () => sink.data.length === 3);
    other.stop();
    assert.equal(other.next, undefined);
    await pass(clock, 2 * minuteMs, () => sink.data.length === 4);
    assert.deepEqual(keysOf(started).toSorted(), [
      'every second minute@2030-05-01T10:02:00.000Z',
      'every second minute@2030-05-01T10:04:00.000Z',
      'tick@2030-05-01T10:01:00.000Z',
      'tick@2030-05-01T10:02:00.000Z',
    ]);
    assert.deepEqual(
      sink.data.find((data) => data !== null),
      { to: 'all' },
    );
    await deferrer.close();
    await pass(clock, 10 * minuteMs);
    assert.equal(sink.data.length, 4);
    // A write that is on its way while the clock jumps takes minutes by that clock.
    const ofWrites = /cannot be (?:written|synced): It has not ended|can be written again/;
    assert.deepEqual(
      logger.lines.filter((line) => !ofWrites.test(line)),
      [],
    );
  });
}

test('processes with one directory defer the job of each moment once, whoever ends in between', async (t) => {
  const clock = clockAt('2030-05-01T10:00:30.000Z');
  const directory = temporaryFolder(t);
  const all = [
    await start(t, clock, directory),
    await start(t, clock, directory),
    await start(t, clock, directory),
  ];
  const keys = (): string[] =>
    all
      .flatMap((each) => keysOf(each))
      .map(String)
      .toSorted();
  for (const { deferrer } of all) deferrer.schedule(tick, undefined, { everyMs: minuteMs });
  await pass(clock, 30_000, () => keys().length === 1);
  await all[0]!.deferrer.close();
  await pass(clock, minuteMs, () => keys().length === 2);
  await all[1]!.deferrer.close();
  await pass(clock, minuteMs, () => keys().length === 3);
  assert.deepEqual(
    keys(),
    [1, 2, 3].map((n) => `tick@2030-05-01T10:0${n}:00.000Z`),
  );
  // No more than the last one of each is kept.
  assert.equal(readdirSync(join(directory, 'schedules')).length, 1);
  assert.deepEqual(
    all.flatMap(({ logger }) => logger.lines),
    [],
  );
});

test('the last of the moments that passed while no process ran is made up for, or none', async (t) => {
  const directory = temporaryFolder(t);
  const clock = clockAt('2030-05-01T10:00:30.000Z');
  for (const missed of ['run', 'skip'] as const) {
    const options = { cron: '0 * * * *', name: missed, missed };
    const first = await start(t, clock, directory);
    first.deferrer.schedule(tick, undefined, options);
    // The first start of all has missed nothing.
    await pass(clock, 1_000);
    assert.deepEqual(keysOf(first), []);
    await pass(clock, 60 * minuteMs, () => keysOf(first).length === 1);
    assert.equal(keysOf(first).length, 1);
    await first.deferrer.close();
    clock.stand(5 * 60 * minuteMs);
    const second = await start(t, clock, directory);
    second.deferrer.schedule(tick, undefined, options);
    await pass(clock, 1_000, () => missed === 'skip' || keysOf(second).length === 1);
    const at = new Date(Math.floor(clock.wall() / (60 * minuteMs)) * 60 * minuteMs).toISOString();
    assert.deepEqual(keysOf(second), missed === 'run' ? [`run@${at}`] : []);
    await second.deferrer.close();
  }
});

test('a moment that a process took and did not come to defer is taken from it when it has ended', async (t) => {
  const directory = temporaryFolder(t);
  const clock = clockAt('2030-05-01T10:00:30.000Z');
  const living = await start(t, clock, directory);
  const claims = new Claims(directory, false);
  const at = (minute: number): number => Date.parse(`2030-05-01T10:0${minute}:00.000Z`);
  // The folder of a living process, that of one which is still to be adopted, and one that is gone.
  const its = readdirSync(directory).find((name) => name.includes('~'));
  const orphan = 'aaaaaaaa-0123456789~free';
  mkdirSync(join(directory, orphan));
  claims.take('tick', at(1), its!);
  const watcher = await start(t, clock, directory);
  watcher.deferrer.schedule(tick, undefined, { everyMs: minuteMs });
  await pass(clock, 45_000);
  assert.deepEqual(keysOf(watcher), []);
  claims.take('tick', at(2), orphan);
  await pass(clock, minuteMs);
  claims.take('tick', at(3), 'aaaaaaab-0123456789~1-1-0123456789ab');
  await pass(clock, 2 * minuteMs);
  await living.deferrer.close();
  await pass(clock, 10_000, () => keysOf(watcher).length === 4);
  const keys = keysOf(watcher).map(String).toSorted();
  assert.deepEqual(
    keys,
    [1, 2, 3, 4].map((n) => `tick@${new Date(at(n)).toISOString()}`),
  );
});

test(
  'hosts of a cluster, each with a directory of its own, run a moment once where the sink dedupes by key',
  { skip: missing ?? false },
  async (t) => {
    const pool = new Pool({ connectionString: server!.url });
    t.after(() => pool.end());
    const clock = clockAt('2030-05-01T10:00:30.000Z');
    const hosts = [1, 2, 3].map(() =>
      createDefer({
        sinks: { rows: postgres({ pool, table: 'ticks' }) },
        journal: { directory: temporaryFolder(t) },
        clock,
        logger: false,
        handleSignals: false,
      }),
    );
    for (const deferrer of hosts) {
      t.after(() => deferrer.closeSync());
      deferrer.schedule(tick, undefined, { everyMs: minuteMs });
    }
    await pass(clock, 35_000);
    await pass(clock, minuteMs);
    const sent = (): boolean => hosts.every((each) => each.queues.get('rows')!.stats.sent === 2);
    await until('the rows', async () => {
      await clock.pass(10);
      return sent();
    });
    const { rows } = await pool.query('select key from ticks order by key');
    assert.deepEqual(
      rows,
      [1, 2].map((n) => ({ key: `tick@2030-05-01T10:0${n}:00.000Z` })),
    );
  },
);

test('a job that cannot be deferred is tried again until it is', async (t) => {
  const clock = clockAt('2030-05-01T10:00:58.000Z');
  const sink = new TestSink();
  const logger = new TestLogger();
  const deferrer = createDefer({
    sinks: { test: { sink, maxPending: 1, overflow: 'reject' } },
    clock,
    logger,
    handleSignals: false,
  });
  t.after(() => deferrer.closeSync());
  sink.isPaused = true;
  deferrer.defer(tick, undefined);
  await clock.pass(100);
  deferrer.schedule(report, { to: 'all' }, { everyMs: minuteMs });
  await clock.pass(5_000);
  assert.equal(sink.data.length, 1);
  assert.equal(logger.lines.length, 1);
  assert.match(logger.lines[0]!, /the schedule report is tried again/);
  sink.resume();
  await clock.pass(5_000);
  assert.deepEqual(sink.data, [null, { to: 'all' }]);
});

test('moments are those of the time zone, also where its clocks change', () => {
  const vienna = cronTimes('30 2 * * *', 'Europe/Vienna');
  const from = (iso: string): string => new Date(vienna.next(Date.parse(iso))!).toISOString();
  assert.equal(from('2026-03-28T00:00:00Z'), '2026-03-28T01:30:00.000Z');
  // There is no 02:30 on that day, and two on the other.
  assert.equal(from('2026-03-28T02:00:00Z'), '2026-03-29T01:00:00.000Z');
  assert.equal(from('2026-10-24T12:00:00Z'), '2026-10-25T00:30:00.000Z');
  assert.equal(from('2026-10-25T00:30:00Z'), '2026-10-26T01:30:00.000Z');
  for (const times of [vienna, cronTimes('*/5 * * * * *', 'UTC'), everyTimes(7_000)]) {
    const next = times.next(Date.parse('2026-10-24T12:00:00.500Z'))!;
    assert.equal(times.latest(next), next);
    assert.ok(times.latest(next - 1)! < next);
    assert.ok(times.next(next)! > next);
    assert.equal(times.next(next - 1), next);
  }
  assert.equal(cronTimes('0 0 30 2 *', 'UTC').next(0), undefined);
});

test('what cannot be done is an error that says so', async (t) => {
  const { deferrer } = await start(t, new TestClock());
  const wrong: [options: object, code: string, message: RegExp][] = [
    [{}, 'OPTION', /either the option cron or the option everyMs/],
    [{ cron: '* * * * *', everyMs: 1_000 }, 'OPTION', /either the option cron/],
    [{ cron: 'at noon' }, 'OPTION', /'at noon' in the time zone 'UTC' cannot be read/],
    [{ cron: '0 7 * * *', timeZone: 'Mars/Base' }, 'OPTION', /Mars\/Base/],
    [{ cron: 7 }, 'OPTION', /cron must be a string/],
    [{ everyMs: 1.5 }, 'OPTION', /everyMs must be a whole number.*got 1.5/],
    [{ everyMs: 10 }, 'OPTION', /100 or above/],
    [{ everyMs: 1_000, timeZone: 'UTC' }, 'OPTION', /belongs to cron/],
    [{ everyMs: 1_000, missed: 'all' }, 'OPTION', /missed must be one of/],
    [{ everyMs: 1_000, name: '' }, 'OPTION', /name of a schedule/],
    [{ every: 1_000 }, 'OPTION', /Unknown option "every" of schedule/],
    [{ everyMs: 1_000, level: 'disk' }, 'LEVEL', /needs a journal/],
    [{ everyMs: 1_000, level: 'outbox' }, 'LEVEL', /level outbox/],
    [{ everyMs: 1_000, sink: 'nowhere' }, 'UNKNOWN_SINK', /nowhere/],
  ];
  for (const [options, code, message] of wrong) {
    const expected = { code: `ERR_REDLINE_DEFER_${code}`, message };
    assert.throws(() => deferrer.schedule(tick, undefined, options), expected);
  }
  deferrer.schedule(tick, undefined, { everyMs: 1_000 });
  assert.throws(() => deferrer.schedule(tick, undefined, { everyMs: 2_000 }), /another name/);
});
