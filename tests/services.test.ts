import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '@redline/services';
import { Pool } from 'pg';

const { server, missing } = await startPostgres();
const skip =
  missing ?? (process.platform !== 'linux' && 'only Linux says what a process has started');

test(
  'a server that is killed does nothing more, its own processes neither',
  { skip },
  async (t) => {
    t.after(() => server!.stop());
    const pool = new Pool({ connectionString: server!.url, max: 1 });
    pool.on('error', () => {});
    t.after(() => pool.end());
    const { rows } = await pool.query('select pg_backend_pid() as pid');
    const { pid } = rows[0] as { pid: number };
    // So it cannot see by itself that the server is gone.
    process.kill(pid, 'SIGSTOP');
    t.after(() => runs(pid) && process.kill(pid, 'SIGKILL'));
    await server!.kill();
    for (let looks = 0; looks < 1_000 && runs(pid); looks++) await sleep(5);
    assert.equal(runs(pid), false);
  },
);

/** A zombie does not. */
function runs(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
