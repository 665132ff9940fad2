import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createDefer, defineJob } from '../../src/index.ts';
import { Claims } from '../../src/schedule/claims.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestLogger, TestSink } from '../harness.ts';
import type { ScheduleAppSettings } from './schedule-app.ts';

const job = defineJob('job');
// The last moment is long past, and the next one far away.
const cron = '0 0 1 1 *';
const tickMs = Date.UTC(new Date().getUTCFullYear(), 0);
const moments = ['within', 'behind', 'before'] as const;

test('a moment of a schedule is run once though the process that took it is killed at any call to the file system', async (t) => {
  for (let call = 1; ; call++) {
    const crash = { call, moment: moments[call % 3]! };
    const directory = temporaryFolder(t);
    mkdirSync(join(directory, 'schedules'));
    const before = new Claims(directory, false);
    before.take('job', tickMs - 86_400_000, 'one');
    before.done('job', tickMs - 86_400_000, 'one');
    const isOver = await run({ directory, cron, tickMs, crash });
    assert.deepEqual(
      await keysOfNext(t, directory),
      [`job@${new Date(tickMs).toISOString()}`],
      `killed at ${JSON.stringify(crash)}`,
    );
    if (isOver) break;
  }
});

async function keysOfNext(t: TestContext, directory: string): Promise<(string | undefined)[]> {
  const sink = new TestSink();
  const deferrer = createDefer({
    sinks: { work: sink },
    journal: { directory, adoptEveryMs: 20 },
    logger: new TestLogger(),
    handleSignals: false,
  });
  t.after(() => deferrer.closeSync());
  await deferrer.ready();
  deferrer.schedule(job, undefined, { cron });
  await until('the job', () => sink.batches.length > 0);
  await until('its claim', () => new Claims(directory, false).read('job', tickMs)?.isDone === true);
  await deferrer.close();
  return sink.batches.flat().map(({ key }) => key);
}

/* True where it was not killed before its work was done. */
async function run(settings: ScheduleAppSettings): Promise<boolean> {
  const file = join(import.meta.dirname, 'schedule-app.ts');
  const child = spawn(process.execPath, [file, JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => void (text += chunk.toString()));
  await once(child, 'close');
  return text === 'done';
}
