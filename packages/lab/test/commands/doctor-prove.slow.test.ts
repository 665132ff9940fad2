import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { DoctorResult } from '../../src/doctor/result.ts';
import { treesLeft } from './ci-repository.ts';
import { Workbench } from './run-cli.ts';

const app = `const http = require('node:http');
const items = Array.from({ length: 5000 }, (_, id) => ({ id, price: id / 3 }));
const agent = new http.Agent({ keepAlive: false });
http.createServer((request, response) => {
  const page = items.map((item) => item.price.toFixed(2)).slice(0, 10);
  response.end(JSON.stringify(page));
}).listen(process.env.PORT, process.env.HOST);
void agent;
`;

function repository(t: TestContext): Workbench {
  const bench = new Workbench(t);
  bench.write(
    'package.json',
    '{"scripts":{"start":"node --import @redline/http/register app.cjs"}}',
  );
  bench.write('app.cjs', app);
  // The agent is what a test of this app holds on to.
  bench.write(
    'check.cjs',
    "process.exit(require('fs').readFileSync('app.cjs', 'utf8').includes('keepAlive: false') ? 0 : 1)",
  );
  bench.write('.gitignore', 'pids\nr.*\nredline-out\n');
  for (const args of [['init'], ['add', '.'], ['commit', '-m', 'one']]) {
    const who = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
    execFileSync('git', [...who, ...args], { cwd: bench.folder, stdio: 'ignore' });
  }
  return bench;
}

const args = [
  'doctor',
  '/',
  '--seconds',
  '1',
  '--warmup',
  '1',
  '--connections',
  '4',
  '--json',
  'r.json',
];

describe('redline doctor --prove', () => {
  test('keeps what gains, drops what fails its tests, and with --fix writes what is kept', async (t) => {
    const bench = repository(t);
    const proving = [...args, '--each', '15', '--test', 'node check.cjs', '--md', 'r.md'];
    const { code, stdout, stderr } = await bench.run([
      ...proving,
      '--fix',
      '--',
      'node',
      'app.cjs',
    ]);
    assert.equal(code, 0, stderr);
    const { findings, together } = JSON.parse(bench.read('r.json')) as DoctorResult;
    const proofOf = (rule: string): NonNullable<DoctorResult['findings'][number]['proof']> =>
      findings.find((each) => each.rule === rule)!.proof!;
    const gained = proofOf('map-before-slice');
    // On a busy machine the app may differ from itself, and then nothing is kept.
    const isKept = gained.word === 'gains';
    assert.ok(isKept || gained.word === 'withheld', stdout);
    if (isKept) assert.ok(gained.cpu!.low > 1, stdout);
    const failed = proofOf('agent-without-keep-alive');
    assert.deepEqual([failed.word, failed.cpu], ['fails', undefined]);
    assert.match(failed.why!, /--test "node check\.cjs" ended with exit code 1/);
    assert.equal(together?.areFixed ?? false, isKept);
    assert.match(stdout, isKept ? /^ {4}Proved: [\d.]+ × \[/m : /^ {4}Not measured: /m);
    assert.match(bench.read('r.md'), /Dropped, it fails/);
    const fixed = app.replace(/(\.map\(.*\))(\.slice\(0, 10\))/, '$2$1');
    assert.equal(bench.read('app.cjs'), isKept ? fixed : app);
    assert.deepEqual(treesLeft(bench), []);
    assert.equal(readdirSync(join(bench.folder, '.git')).includes('worktrees'), false);
    assert.deepEqual(bench.survivors(), []);
  });
});
