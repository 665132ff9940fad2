import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { DoctorResult, Proof } from '../../src/doctor/result.ts';
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

  test('measures the others, where one change answers something else and one fails under load', async (t) => {
    const busy = 'new http.Agent({ keepAlive: false })';
    const bench = repository(
      t,
      app
        .replace('void agent;', `const busy = ${busy};\nlet count = 0;`)
        .replace('stringify(page)', 'stringify([page, agent.options.keepAlive])')
        .replace(
          '  const page',
          '  if (busy.options.keepAlive && ++count > 50) response.statusCode = 500;\n  const page',
        ),
    );
    const { code, stderr } = await bench.run([...args, '--each', '5', '--prove', ...command]);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /measuring these 3 changes beside the app as it is/);
    const reasons = proofs(bench).flatMap(({ why }) => why ?? []);
    assert.equal(reasons.length, 2, reasons.join('\n'));
    const [differs, fails] = reasons.toSorted((one) => (one.startsWith('"') ? -1 : 1));
    assert.match(differs!, /^"\+ agent-without-keep-alive:3" answers GET \/ differently from "as/);
    assert.match(
      fails!,
      /^It answered \d+ of \d+ requests with (a status outside 2xx and 3xx|status 5\d\d) under/,
    );
    const other = proofs(bench).find(({ word }) => word !== 'fails');
    assert.ok(other!.cpu !== undefined || other!.word === 'withheld', stderr);
    assert.deepEqual(bench.survivors(), []);
  });

  test('goes on with what an interrupted run has measured, and tries again what failed', async (t) => {
    const bench = repository(t);
    const proving = [...args, '--each', '10', '--prove', '--test', 'node check.cjs'];
    const child = bench.start([...proving, ...command]);
    let said = '';
    child.stderr!.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      // One of the two fails its tests. A second signal would end it at once.
      if (said.includes('measuring that change') && !child.killed) child.kill('SIGINT');
    });
    assert.equal((await finished(child)).code, 130, said);
    const again = await bench.run([...proving, '--continue', ...command]);
    assert.equal(again.code, 0, again.stderr);
    const reasons = tried(bench);
    assert.ok(reasons.some((each) => each.includes('it failed: --test "node check.cjs" ended')));
    assert.ok(reasons.some((each) => each.endsWith('it was under way when the run ended')));
    const measured = proofs(bench).filter(({ word }) => word !== 'fails' && word !== 'withheld');
    const third = await bench.run([...proving, '--continue', ...command]);
    assert.equal(third.code, 0, third.stderr);
    // What was measured is not measured again; where the app differed from itself, it is.
    assert.equal(
      third.stderr.includes('measuring that change'),
      measured.length === 0,
      third.stderr,
    );
    assert.equal(tried(bench).length, 2 - measured.length);
    assert.equal(proofs(bench).length, 2);
    assert.deepEqual(bench.survivors(), []);
  });
});

function proofs(bench: Workbench): Proof[] {
  const { findings } = JSON.parse(bench.read('r.json')) as DoctorResult;
  return findings.flatMap(({ proof }) => proof ?? []);
}

function tried(bench: Workbench): string[] {
  const { warnings } = JSON.parse(bench.read('r.json')) as DoctorResult;
  return warnings.filter((each) => each.includes('is tried again'));
}
