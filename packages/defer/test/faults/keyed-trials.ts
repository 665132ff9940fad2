import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDefer } from '../../src/create-defer.ts';
import { temporaryFolder, TestClock, TestLogger, TestSink } from '../harness.ts';
import type { KeyedAppSettings } from './keyed-app.ts';
import { steps } from './keyed-steps.ts';

type Trial = Omit<KeyedAppSettings, 'directory'>;

/** Has a process killed, and looks what the next one does. False when it had come to its end before that. */
export async function killedWithin(t: TestContext, trial: Trial): Promise<boolean> {
  const directory = temporaryFolder(t);
  const done = await run({ ...trial, directory });
  const clock = new TestClock();
  clock.wallMs = Date.UTC(2101, 0);
  const sink = new TestSink();
  const logger = new TestLogger();
  const deferrer = createDefer({
    sinks: { work: sink },
    journal: { directory },
    clock,
    logger,
    handleSignals: false,
  });
  await deferrer.ready();
  // The step it was killed in may have taken effect.
  const last = done.length - 1;
  const allowed = [steps[last], steps[last + 1]].map((step) =>
    step?.data === undefined ? [] : [step.data],
  );
  const isAllowed = (): boolean =>
    allowed.some((each) => JSON.stringify(each) === JSON.stringify(sink.data));
  // Jobs are read from disk at their own pace; 20 more turns show that no other runs.
  for (let step = 0, since = 0; step < 2_000 && since < 20; step++) {
    await clock.pass(10);
    await sleep(1);
    since = isAllowed() ? since + 1 : 0;
  }
  deferrer.closeSync();
  assert.ok(
    isAllowed(),
    `${JSON.stringify(trial)}: ${JSON.stringify(sink.data)} ran after ${done.length} steps, not ${JSON.stringify(allowed)}`,
  );
  return done.length < steps.length;
}

/* The steps it has said to be done. */
async function run(settings: KeyedAppSettings): Promise<string[]> {
  const file = join(import.meta.dirname, 'keyed-app.ts');
  const child = spawn(process.execPath, [file, JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => void (text += chunk.toString()));
  await once(child, 'close');
  return text.split('\n').filter((line) => /^\d+$/.test(line));
}
