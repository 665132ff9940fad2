import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { isRunnable } from '../../src/run/cpu-clock.ts';

const needsProc = process.platform !== 'linux' && 'only Linux tells the state of a thread';

test('a process that spins is runnable, one that waits is not', { skip: needsProc }, async (t) => {
  const child = spawn(
    process.execPath,
    ['-e', `process.stdin.once('data', () => { while (true); })`],
    { stdio: ['pipe', 'ignore', 'inherit'] },
  );
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  await until(() => !isRunnable(child.pid!));
  child.stdin.write('go');
  await until(() => isRunnable(child.pid!));
  for (let look = 0; look < 20; look++) assert.equal(isRunnable(child.pid!), true);
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(20);
}
