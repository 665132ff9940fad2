import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test, type TestContext } from 'node:test';
import type { RedlineConfig } from '../../src/config/types.ts';
import { finished, Workbench } from './run-cli.ts';

const brief = { restarts: 1, blocks: 1, sliceMs: 100, warmupMs: 0, latencyMs: 100 };

/** Two groups that are measured in a moment, and one that a test has time to interrupt. */
function benchOf(t: TestContext, groups: RedlineConfig['groups'] = {}): Workbench {
  const bench = new Workbench(t);
  bench.write('.gitignore', 'pids\n');
  write(bench, groups);
  git(bench, 'init', '--quiet');
  git(bench, 'commit', '--quiet', '--allow-empty', '-m', 'one');
  return bench;
}

function git({ folder }: Workbench, ...args: string[]): string {
  const words = ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args];
  return execFileSync('git', words, { cwd: folder, encoding: 'utf8' });
}

function write(bench: Workbench, groups: RedlineConfig['groups'] = {}): void {
  bench.writeConfig({
    precision: brief,
    groups: { c: { precision: { restarts: 100 } }, ...groups },
    variants: ['a', 'b', 'c'].map((group) => ({ ...bench.variant(`server/${group}`), group })),
  });
}

interface Interrupting {
  args?: string[];
  /** Names the progress at which the run is interrupted. */
  at?: RegExp;
  by: (pid: number) => void;
}

async function interrupted(bench: Workbench, { args = [], at = /3\/100/, by }: Interrupting) {
  const child = bench.start(['bench', ...args]);
  let said = '';
  child.stderr!.on('data', (chunk: Buffer) => {
    if (said === 'interrupted') return;
    said += chunk.toString();
    if (!at.test(said)) return;
    said = 'interrupted';
    by(child.pid!);
  });
  return finished(child);
}

const ctrlC = (pid: number): void => void process.kill(pid, 'SIGINT');
const kill = (pid: number): void => void process.kill(pid, 'SIGKILL');
const json = ['--json', 'r.json'];

describe('an interrupted redline bench', () => {
  test('keeps and prints the groups that are complete, and --continue measures the rest', async (t) => {
    const bench = benchOf(t);
    const { code, stdout, stderr } = await interrupted(bench, { args: json, by: ctrlC });
    assert.equal(code, 130, stderr);
    assert.match(stderr, /2 of 3 groups are complete: a, b\. r\.json has them/);
    assert.match(stderr, /Stopped; nothing is left running\.\n$/);
    assert.match(stdout, /test, a/);
    assert.match(stdout, /test, b/);
    assert.doesNotMatch(stdout, /test, c/);
    const before = bench.result('r.json');
    assert.deepEqual(before.unfinished!.missing, ['c']);
    assert.deepEqual(
      before.groups!.map(({ name }) => name),
      ['a', 'b'],
    );
    assert.deepEqual(bench.survivors(), []);

    const again = await interrupted(bench, { args: [...json, '--continue'], by: ctrlC });
    assert.equal(again.code, 130, again.stderr);
    assert.match(again.stderr, /continue: r\.json has a, b/);
    assert.deepEqual(bench.result('r.json').slices, before.slices);
  });

  test('goes on after a kill -9 with what its file has', async (t) => {
    const bench = benchOf(t, { c: { precision: { restarts: 3 } } });
    const args = ['--out', 'out'];
    await interrupted(bench, { args, at: /1\/3 /, by: kill });
    const { code, stdout, stderr } = await bench.run(['bench', ...args, '--continue']);
    assert.equal(code, 0, stderr);
    const [, file] = /continue: (out\/test-\w+\.json) has a, b/.exec(stderr) ?? [];
    assert.ok(file !== undefined, stderr);
    const result = bench.result(file);
    assert.equal(result.unfinished, undefined);
    assert.deepEqual(
      result.groups!.map(({ name, precision }) => [name, precision.restarts]),
      [
        ['a', 1],
        ['b', 1],
        ['c', 3],
      ],
    );
    const total = result.groups!.reduce((sum, { durationSeconds }) => sum + durationSeconds!, 0);
    assert.ok(result.durationSeconds + result.groups!.length >= total, 'the time of both runs');
    for (const group of ['a', 'b', 'c']) assert.match(stdout, new RegExp(`test, ${group}`));
    // The finished run leaves nothing to go on with.
    const third = await bench.run(['bench', ...args, '--continue', '--only', 'server/a']);
    assert.equal(third.code, 0, third.stderr);
    assert.match(third.stderr, /no unfinished run of test is in out: every group is measured/);
  });

  test('leaves nothing before its first group is complete', async (t) => {
    const bench = benchOf(t, { a: { precision: { restarts: 100 } } });
    const run = { args: json, at: /2\/100/, by: ctrlC };
    const { code, stdout, stderr } = await interrupted(bench, run);
    assert.equal(code, 130, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, /Stopped; nothing is left running\.\n$/);
    assert.equal(existsSync(join(bench.folder, 'r.json')), false);
    assert.deepEqual(bench.survivors(), []);
  });

  test('ends at once at the second Ctrl-C', async (t) => {
    const bench = new Workbench(t);
    bench.write('measured', '');
    // It does not end on SIGTERM, so that an orderly end takes seconds.
    bench.write(
      'deaf.cjs',
      `const { appendFileSync } = require('node:fs');
      appendFileSync('pids', process.pid + '\\n');
      process.on('SIGTERM', () => {});
      require('node:http').createServer((_, response) => {
        if (process.env.GROUP === 'b') appendFileSync('measured', 'x');
        response.end('ok');
      }).listen(process.env.PORT);`,
    );
    bench.writeConfig({
      precision: brief,
      groups: { b: { precision: { restarts: 100 } } },
      variants: ['a', 'b'].map((group) => ({
        name: `deaf/${group}`,
        group,
        command: [process.execPath, 'deaf.cjs'],
        env: { GROUP: group },
      })),
    });
    const child = bench.start(['bench', ...json]);
    const ended = finished(child);
    while (bench.read('measured') === '' && child.exitCode === null) await sleep(20);
    while (child.exitCode === null) {
      child.kill('SIGINT');
      await sleep(50);
    }
    const { code, stdout, stderr } = await ended;
    assert.equal(code, 130);
    assert.equal(stdout, '');
    assert.doesNotMatch(stderr, /Stopped/);
    // What was complete is in the file all the same.
    assert.deepEqual(bench.result('r.json').unfinished!.missing, ['b']);
    while (bench.survivors().length > 0) await sleep(20);
  });
});

describe('redline bench --continue', () => {
  test('refuses another commit, code that has changed, another environment, another configuration, and the result of a complete run', async (t) => {
    const bench = benchOf(t);
    await interrupted(bench, { args: json, by: kill });
    const refused = async (...more: string[]): Promise<string> => {
      const { code, stderr } = await bench.run(['bench', ...json, '--continue', ...more]);
      assert.equal(code, 2, stderr);
      return stderr;
    };
    assert.match(
      await refused('--only', 'server/a,server/b'),
      /cannot go on with r\.json: its groups are a, b, c; those asked for are a, b\. Without --continue/,
    );
    write(bench, { a: { load: { connections: 3 } } });
    assert.match(await refused(), /: its group a has another configuration\./);
    write(bench);
    const first = git(bench, 'rev-parse', 'HEAD').slice(0, 8);
    git(bench, 'commit', '--quiet', '--allow-empty', '-m', 'two');
    const second = git(bench, 'rev-parse', 'HEAD').slice(0, 8);
    assert.match(
      await refused(),
      new RegExp(`: it was measured at commit ${first}; this is ${second}\\.`),
    );
    git(bench, 'reset', '--quiet', '--hard', 'HEAD~1');
    bench.write('app.js', '// edited');
    assert.match(
      await refused(),
      /: files of this folder that are not committed have changed since it was measured\./,
    );
    rmSync(join(bench.folder, 'app.js'));
    const elsewhere = await bench.run(['bench', ...json, '--continue'], { NODE_ENV: 'production' });
    assert.equal(elsewhere.code, 2, elsewhere.stderr);
    assert.match(elsewhere.stderr, /: it was measured with other environment variables\./);
    renameSync(join(bench.folder, '.git'), join(bench.folder, 'pids.git'));
    assert.match(await refused(), /: this folder is in no git repository that has a commit, /);
    renameSync(join(bench.folder, 'pids.git'), join(bench.folder, '.git'));
    const { unfinished, ...complete } = bench.result('r.json');
    const machine = { ...complete.machine, cpuModel: 'An Abacus' };
    bench.write('r.json', JSON.stringify({ ...complete, unfinished, machine }));
    assert.match(await refused(), /on another machine, where cpuModel is An Abacus; here it is /);
    bench.write('r.json', JSON.stringify(complete));
    assert.match(await refused(), /: it is not the result of an interrupted run\./);
  });

  test('needs groups, and a file with a result', async (t) => {
    const bench = new Workbench(t);
    bench.writeConfig({ variants: [bench.variant('server')] });
    const alone = await bench.run(['bench', '--continue']);
    assert.equal(alone.code, 2);
    assert.match(
      alone.stderr,
      /--continue goes on with complete groups, but this config has none\./,
    );
    write(bench);
    const piped = await bench.run(['bench', '--continue', '--json', '-']);
    assert.equal(piped.code, 2);
    assert.match(piped.stderr, /but standard output has none: name a file with --json\./);
    bench.write('r.json', '{"sche');
    const broken = await bench.run(['bench', ...json, '--continue']);
    assert.equal(broken.code, 2);
    assert.match(broken.stderr, /cannot go on with r\.json: it is not a result of redline bench\./);
    assert.equal(bench.read('r.json'), '{"sche');
  });
});
