import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { answers, startDaemon, startPostgres } from '@redline/services';
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

test('a port that another process takes meanwhile is left for another one', async (t) => {
  const taken: Server[] = [];
  t.after(() => taken.forEach((each) => each.close()));
  const daemon = await startDaemon({
    name: 'taken-port',
    async prepare({ port }) {
      if (taken.length > 0) return;
      const other = createServer().listen(port, '127.0.0.1');
      taken.push(other);
      await once(other, 'listening');
    },
    command: ({ port }) => [
      process.execPath,
      '-e',
      `require('node:net').createServer((s) => s.end('ours')).listen(${port}, '127.0.0.1')`,
    ],
    isReady: ({ port }) => answers(port, undefined, 'ours'),
  });
  t.after(() => daemon.stop());
  assert.notEqual(daemon.port, (taken[0]!.address() as { port: number }).port);
});

/** A zombie does not. */
function runs(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
