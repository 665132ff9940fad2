import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { isRunnable } from '../../src/system/cpu-clock.ts';
import { until } from '@redline/services/until';

const needsProc = process.platform !== 'linux' && 'only Linux tells the state of a thread';

test('a process that spins is runnable, one that waits is not', { skip: needsProc }, async (t) => {
  const child = spawn(
    process.execPath,
    [
      '-e',
      `process.stdin.once('data', () => { process.stdout.write('spinning'); while (true); });
      process.stdout.write('waiting');`,
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  t.after(() => child.kill('SIGKILL'));
  // It says itself what it is about to do: until then it starts, and is now runnable and now not.
  await once(child.stdout, 'data');
  await until('it waits', () => !isRunnable(child.pid!));
  child.stdin.write('go');
  await once(child.stdout, 'data');
  // V8 stops the thread for a moment when it puts a faster loop in place.
  let runnable = 0;
  for (let look = 0; look < 20; look++) {
    if (isRunnable(child.pid!)) runnable++;
    // Looks at different moments.
    await sleep(5);
  }
  assert.ok(runnable >= 15, `${runnable} of 20`);
});
