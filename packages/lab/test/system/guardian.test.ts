import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { until } from '@redline/services/until';

const guardian = new URL('../../dist/system/guardian.js', import.meta.url);
const skip = process.platform !== 'linux' && 'processes are found in /proc';

/** A runner that is killed in `when` after it has printed the pid of its child, which waits for ever. */
async function killRunner(when: 'while it starts one' | 'later'): Promise<number> {
  const end = `process.kill(process.pid, 'SIGKILL'); while (true);`;
  const program = `
    import { spawn } from 'node:child_process';
    import { writeSync } from 'node:fs';
    import { startChild } from ${JSON.stringify(guardian.href)};
    startChild((mark) => {
      const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore', env: { ...process.env, ...mark } });
      writeSync(1, String(child.pid));
      ${when === 'later' ? '' : end}
      return child;
    });
    ${end}`;
  const runner = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  runner.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [, signal] = await once(runner, 'close');
  assert.equal(signal, 'SIGKILL');
  return Number(said);
}

for (const when of ['while it starts one', 'later'] as const) {
  test(
    `a child ends with a runner that is killed ${when}`,
    { skip, timeout: 600_000 },
    async (t) => {
      const pid = await killRunner(when);
      assert.ok(pid > 0);
      t.after(() => isSleeping(pid) && process.kill(pid, 'SIGKILL'));
      await until('the end of the child', () => !isSleeping(pid));
    },
  );
}

function isSleeping(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep');
  } catch {
    return false;
  }
}
