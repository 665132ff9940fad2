// `npm run test:nodes [-- 22 [FILE…]]`: the tests of @redline/http on the other Nodes that it supports.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join, relative } from 'node:path';
import { obtainRuntime, parseRuntime } from '@redline/lab';
import { lowered } from './lowered.ts';

const root = join(import.meta.dirname, '../..');
const [chosen, ...files] = process.argv.slice(2);

for (const line of chosen === undefined ? ['24', '22'] : [chosen]) {
  const { file } = await obtainRuntime(parseRuntime(line), {
    signal: AbortSignal.timeout(300_000),
  });
  // Node 22 cannot read `await using`.
  using copy = line === '22' ? lowered(root, 'packages/http') : undefined;
  const cwd = copy?.folder ?? root;
  const tests = files.length > 0 ? files : globSync('packages/http/test/**/*.test.ts', { cwd });
  console.log(`Node ${line}: ${tests.length} files in ${relative(root, cwd) || '.'}`);
  const args = ['--test', '--test-concurrency=1', '--test-timeout=900000', ...tests];
  const { status } = spawnSync(file, args, { cwd, stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
