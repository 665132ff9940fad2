import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '@redline/services';
import type { StairsResult } from '../../src/stairs/result.ts';
import { Workbench } from './run-cli.ts';

const { server, missing } = await startPostgres();
after(() => server?.stop());

test(
  'redline stairs names the queries of each stage, their plans, and keeps their literals',
  { skip: missing ?? false },
  async (t) => {
    const bench = new Workbench(t);
    const cwd = fileURLToPath(new URL('../calls-out/apps', import.meta.url));
    const env = { POSTGRES_URL: server!.url };
    bench.writeConfig({
      variants: [{ name: 'app', command: [process.execPath, 'orders.cjs'], cwd, env }],
    });
    // prettier-ignore
    const { code, stdout, stderr } = await bench.run(
      ['stairs', '--request', '/callbacks', '--seconds', '0.3', '--warmup', '0.2', '--json', 'r.json', '--html', 'r.html', '--md', 'r.md',
        '--database', server!.url],
    );
    assert.equal(code, 0, stderr);
    const text = bench.read('r.json');
    const { calls } = JSON.parse(text) as StairsResult;
    assert.deepEqual(
      calls!.callers.flatMap(({ groups }) => groups.map((each) => [each.text, each.count])),
      [
        ['SELECT name FROM users WHERE name = $1 OR id IN (…)', 1],
        ['SELECT $1 + $2::int AS sum, $3', 1],
      ],
    );
    assert.match(calls!.callers[0]!.groups[0]!.explained!.text, /^Seq Scan on users/);
    assert.match(stdout, /^CALLS {4}of one request/m);
    assert.match(bench.read('r.md'), /\| called by \| statement \|/);
    assert.match(bench.read('r.html'), /<h2 id="calls-heading">/);
    assert.doesNotMatch(text + stdout, /secret/);
  },
);
