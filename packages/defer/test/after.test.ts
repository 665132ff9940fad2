// Work of this process, closures and handlers: each has its own time, and one that hangs holds up no other.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createDefer } from '../src/create-defer.ts';
import type { Deferrer } from '../src/deferrer.ts';
import { defineJob } from '../src/job/job.ts';
import type { DeferOptions } from '../src/options.ts';
import type { RunDelivery } from '../src/sink.ts';
import { handlers } from '../src/sinks/handlers.ts';
import { TestClock, TestLogger, turns } from './harness.ts';

const job = defineJob<number>('job');
const never = (): Promise<void> => new Promise(() => {});

function start(
  t: TestContext,
  options: DeferOptions,
): { deferrer: Deferrer; clock: TestClock; logger: TestLogger } {
  const clock = new TestClock();
  const logger = new TestLogger();
  const deferrer = createDefer<string>({ clock, logger, handleSignals: false, ...options });
  t.after(() => deferrer.closeSync());
  return { deferrer, clock, logger };
}

test('a job has its time from its own beginning, however many are before it in a batch', async (t) => {
  const runs: number[] = [];
  const work = (n: number): Promise<void> => {
    runs.push(n);
    return new Promise((resolve) => void clock.after(100, resolve));
  };
  const sink = handlers({ job: work }, { concurrency: 1 });
  const { deferrer, clock } = start(t, { sinks: { work: { sink, sendTimeoutMs: 1_000 } } });
  for (let n = 0; n < 40; n++) deferrer.defer(job, n);
  await clock.pass(6_000);
  assert.deepEqual(
    runs,
    Array.from({ length: 40 }, (_, n) => n),
  );
  assert.equal(deferrer.queues.get('work')!.stats.sent, 40);
});

test('a handler that hangs uses up an attempt when its time is over, and its signal says so', async (t) => {
  const signals: AbortSignal[] = [];
  const sink = handlers({
    job: (_: number, __: unknown, signal: AbortSignal) => {
      signals.push(signal);
      return never();
    },
  });
  const sinkOptions = { sink, sendTimeoutMs: 1_000, retry: { attempts: 2, minMs: 1 } };
  const { deferrer, clock } = start(t, { sinks: { work: sinkOptions } });
  deferrer.defer(job, 1);
  await clock.pass(10);
  assert.equal(signals[0]!.aborted, false);
  await clock.pass(1_100);
  assert.equal(signals[0]!.aborted, true);
  await clock.pass(1_100);
  const [letter] = await deferrer.deadLetters.list();
  assert.match(letter!.reason, /did not end within 1000 ms/);
});

test('closures that hang hold up no other, and are not waited for forever', async (t) => {
  const { deferrer, clock, logger } = start(t, { after: { timeoutMs: 1_000, maxPending: 100 } });
  for (let n = 0; n < 99; n++) {
    deferrer.after(never);
    await turns();
  }
  let hasRun = false;
  deferrer.after(() => {
    hasRun = true;
  });
  await clock.pass(1);
  assert.ok(hasRun);
  assert.equal(deferrer.afterQueue.loaded, 99);
  await clock.pass(1_100);
  assert.equal(deferrer.afterQueue.loaded, 0);
  assert.match(logger.lines.join('\n'), /closure .* failed/);
});

test('closures beyond the bound are dropped and reported, and fail nobody', async (t) => {
  const { deferrer, clock, logger } = start(t, { after: { maxPending: 5 } });
  for (let n = 0; n < 50; n++) {
    deferrer.after(never);
    await turns();
  }
  assert.equal(deferrer.afterQueue.stats.dropped.overflow, 45);
  await clock.pass(1_000);
  const warnings = logger.lines.filter((line) => line.includes('dropped'));
  // One line for each of the first, and one for all the others.
  assert.equal(warnings.length, 11);
  assert.match(warnings.at(-1)!, /35 more jobs were dropped/);
});

test('many deaths at once are a few lines', async (t) => {
  const sink = handlers({
    job: () => {
      throw Object.assign(new Error('never'), { retryable: false });
    },
  });
  const { deferrer, clock, logger } = start(t, { sinks: { work: sink } });
  for (let n = 0; n < 500; n++) deferrer.defer(job, n);
  await clock.pass(2_000);
  assert.equal(deferrer.deadLetters.size, 500);
  const warnings = logger.lines.filter((line) => line.includes('dead letter'));
  assert.equal(warnings.length, 11);
  assert.match(warnings.at(-1)!, /490 more/);
});

test('a closure gets its delivery, and a signal that aborts when the app closes', async (t) => {
  const { deferrer, clock } = start(t, {});
  const seen: RunDelivery[] = [];
  deferrer.after(function tidy(delivery) {
    seen.push(delivery);
    return never();
  });
  await clock.pass(1);
  const [{ id, job: name, attempt, redelivered, signal }] = seen as [RunDelivery];
  assert.match(id, /^[0-9a-z-]+$/);
  assert.deepEqual(
    { name, attempt, redelivered },
    { name: 'tidy', attempt: 1, redelivered: false },
  );
  assert.equal(signal.aborted, false);
  deferrer.closeSync();
  assert.equal(signal.aborted, true);
});
