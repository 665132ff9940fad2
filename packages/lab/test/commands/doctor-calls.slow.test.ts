import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '@redline/services';
import type { DoctorResult } from '../../src/doctor/result.ts';
import { Workbench } from './run-cli.ts';

const { server, missing } = await startPostgres();
after(() => server?.stop());

test(
  'redline doctor names the queries for each item, what they wait, and the missing index',
  { skip: missing ?? false },
  async (t) => {
    const bench = new Workbench(t);
    const folder = fileURLToPath(new URL('../calls-out/apps', import.meta.url));
    // prettier-ignore
    const { code, stdout, stderr } = await bench.run(
      ['doctor', '/user', '--yes', '--seconds', '0.5', '--warmup', '0.2', '--cwd', folder, '--json', 'r.json', '--html', 'r.html', '--md', 'r.md',
        '--database', server!.url, '--', process.execPath, 'orders.cjs'],
      { POSTGRES_URL: server!.url },
    );
    assert.equal(code, 0, stderr);
    const { findings, measured } = JSON.parse(bench.read('r.json')) as DoctorResult;
    const found = findings.find(({ rule }) => rule === 'n-plus-one')!;
    assert.equal(found.waits!.calls, 10);
    assert.equal(found.waits!.statement, 'SELECT total FROM orders WHERE user_id = $1');
    assert.equal(found.waits!.explained, 'Seq Scan on orders, no index on user_id');
    assert.deepEqual(
      measured!.calls!.callers.map(({ name, count }) => [name, count]),
      [
        ['getUser', 1],
        ['findOrder', 10],
      ],
    );
    assert.match(stdout, /^CALLS {4}of one request/m);
    assert.match(
      bench.read('r.md'),
      /the same statement with another user\\_id; Seq Scan on orders/,
    );
    assert.match(bench.read('r.html'), /<h2 id="calls-heading">/);
  },
);

test('--database without a command that is started is refused', async (t) => {
  const { code, stderr } = await new Workbench(t).run(['doctor', '--database', 'postgres://a/b']);
  assert.equal(code, 2);
  assert.match(stderr, /--database explains what requests query: give the command/);
});
