// A deferrer on a test's clock, and time that passes for it.
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDefer } from '../src/create-defer.ts';
import type { Deferrer } from '../src/deferrer.ts';
import { nodeFs, type JournalFs } from '../src/journal/journal-fs.ts';
import type { SinkQueueOptions } from '../src/sink-queue/queue-options.ts';
import { TestClock, TestLogger, TestSink } from './harness.ts';

export interface Start {
  readonly deferrer: Deferrer;
  readonly clock: TestClock;
  readonly sink: TestSink;
  readonly logger: TestLogger;
}

export async function start(
  t: TestContext,
  directory: string | undefined,
  sinkOptions: Partial<SinkQueueOptions> = {},
  clock = new TestClock(),
  fs: JournalFs = nodeFs,
): Promise<Start> {
  const sink = new TestSink();
  const logger = new TestLogger();
  const deferrer = createDefer({
    sinks: { test: { sink, ...sinkOptions } },
    ...(directory !== undefined && { journal: { directory, segmentBytes: 4_096, fs } }),
    clock,
    logger,
    handleSignals: false,
  });
  t.after(() => deferrer.closeSync());
  await deferrer.ready();
  return { deferrer, clock, sink, logger };
}

/* Reading is real: time passes for it in steps. */
export async function pass(clock: TestClock, ms: number, isThere: () => boolean): Promise<void> {
  await clock.pass(ms);
  for (let step = 0; step < 500 && !isThere(); step++) {
    await clock.pass(10);
    await sleep(1);
  }
  // Anything else that is due arrives now.
  for (let step = 0; step < 5; step++) {
    await clock.pass(10);
    await sleep(1);
  }
}
