import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { DoctorResult } from '../../src/doctor/result.ts';
import { treesLeft } from './ci-repository.ts';
import { finished, Workbench } from './run-cli.ts';

const engine = fileURLToPath(new URL('../../../http', import.meta.url));

const app = `const http = require('node:http');
const items = Array.from({ length: 5000 }, (_, id) => ({ id, price: id / 3 }));
const agent = new http.Agent({ keepAlive: false });
http.createServer((request, response) => {
  const page = items.map((item) => item.price.toFixed(2)).slice(0, 10);
  response.end(JSON.stringify(page));
}).listen(process.env.PORT, process.env.HOST);
void agent;
`;

function repository(t: TestContext, code = app): Workbench {
  const bench = new Workbench(t);
  bench.write(
    'package.json',
    '{"name":"app","scripts":{"start":"node --import @redline/http/register app.cjs"}}',
  );
  // With the engine below it already, what is found is what is planted.
  mkdirSync(join(bench.folder, 'node_modules/@redline'), { recursive: true });
  symlinkSync(engine, join(bench.folder, 'node_modules/@redline/http'));
  bench.write('app.cjs', code);
  // The agent is what a test of this app holds on to.
  bench.write(
    'check.cjs',
    "process.exit(require('fs').readFileSync('app.cjs', 'utf8').includes('keepAlive: false') ? 0 : 1)",
  );
  bench.write('.gitignore', 'node_modules\npids\nr.*\nredline-out\n');
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

const command = ['--', 'node', '--import', '@redline/http/register', 'app.cjs'];

describe('redline doctor --prove', () => {
  test('keeps what gains, drops what fails its tests, and with --fix writes what is kept', async (t) => {
    const bench = repository(t);
    const proving = [...args, '--each', '15', '--test', 'node check.cjs', '--md', 'r.md'];
    const { code, stdout, stderr } = await bench.run([...proving, '--fix', ...command]);
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

  test('shows the changes that gain as a ladder, each on top of those before it', async (t) => {
    const second = 'items.map((item) => item.price.toExponential(9)).slice(0, 5)';
    const bench = repository(t, app.replace('stringify(page)', `stringify([page, ${second}])`));
    const proving = [...args, '--each', '12', '--prove', '--md', 'r.md'];
    const { code, stdout, stderr } = await bench.run([...proving, ...command]);
    assert.equal(code, 0, stderr);
    const { findings, together, ladder } = JSON.parse(bench.read('r.json')) as DoctorResult;
    const gaining = findings.filter(({ proof }) => proof?.word === 'gains');
    const names = gaining.map(({ rule }) => rule);
    // On a busy machine the app may differ from itself, and then nothing is kept.
    if (names.length < 2) return assert.equal(ladder, undefined, stdout);
    assert.deepEqual(names, ['map-before-slice', 'map-before-slice']);
    assert.equal(together!.changes, 2);
    if (together!.word === 'fails') assert.fail(together!.why);
    const rungs = ladder!.variants.map(({ name }) => name.replace(/:\d+/, ''));
    assert.deepEqual(rungs, ['as it is', '+ map-before-slice', '+ map-before-slice']);
    assert.match(stdout, /LADDER {3}Each change that gains/);
    assert.match(bench.read('r.md'), /\| each on top of those above it \|/);
    assert.deepEqual(treesLeft(bench), []);
    assert.deepEqual(bench.survivors(), []);
  });

  test('goes on with what an interrupted run has measured, and tries again what failed', async (t) => {
    const bench = repository(t);
    const proving = [...args, '--each', '10', '--prove', '--test', 'node check.cjs'];
    const child = bench.start([...proving, ...command]);
    // The second of two changes is under way then, and the first has come to its end.
    let said = '';
    child.stderr!.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      // A second signal would end it at once.
      if (said.includes('change 2 of 2') && !child.killed) child.kill('SIGINT');
    });
    assert.equal((await finished(child)).code, 130, said);
    const again = await bench.run([...proving, '--continue', ...command]);
    assert.equal(again.code, 0, again.stderr);
    const { findings, warnings } = JSON.parse(bench.read('r.json')) as DoctorResult;
    assert.equal(findings.flatMap(({ proof }) => proof?.word ?? []).length, 2);
    const [, first] = /change 1 of 2, (\S+) at/.exec(said)!;
    const [, came] = /change 1 of 2: (.*)/.exec(said)!;
    // What was measured is not measured again; what failed or differed from itself is, and it says why.
    const isMeasured = !/^(Dropped, it fails|Not measured)/.test(came!);
    assert.equal(again.stderr.includes(`of 2, ${first} at`), !isMeasured, again.stderr);
    const reasons = warnings.filter((each) => each.includes('is tried again'));
    assert.equal(
      reasons.some((each) => each.startsWith(first!)),
      !isMeasured,
    );
    assert.ok(reasons.some((each) => each.endsWith('it was under way when the run ended')));
    assert.equal(said.includes('with --continue goes on with it'), isMeasured, said);
    assert.deepEqual(bench.survivors(), []);
  });
});
