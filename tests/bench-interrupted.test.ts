// Ctrl-C in a terminal reaches every process in the foreground: npm, the program of the script, and redline, which npm and the
// program then pass it on to.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import type { BenchResult } from '@redline/lab';

const root = join(import.meta.dirname, '..');
const server = `require('node:http').createServer((_, response) => response.end('ok')).listen(process.env.PORT)`;
const config = {
  name: 'two',
  load: { connections: 2, pin: false, turns: false },
  precision: { restarts: 1, blocks: 1, sliceMs: 100, warmupMs: 0, latencyMs: 100 },
  groups: { last: { precision: { restarts: 100 } } },
  variants: ['first', 'last'].map((group) => ({
    name: `server/${group}`,
    group,
    command: ['node', '-e', server],
  })),
};

test('Ctrl-C in a terminal keeps the complete groups of npm run bench', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'redline-bench-interrupted-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['scenarios', 'proofs']) {
    mkdirSync(join(folder, 'benchmarks', name), { recursive: true });
  }
  cpSync(join(root, 'benchmarks/run.ts'), join(folder, 'benchmarks/run.ts'));
  writeFileSync(
    join(folder, 'benchmarks/scenarios/two.ts'),
    `export default ${JSON.stringify(config)};`,
  );
  const scripts = { bench: 'node benchmarks/run.ts' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', scripts }));
  const path = `${join(root, 'node_modules/.bin')}${delimiter}${process.env['PATH']}`;
  // A group of its own, as a shell starts it.
  const npm = spawn('npm', ['run', 'bench', '--', 'two', '--json', 'r.json'], {
    cwd: folder,
    env: { ...process.env, PATH: path },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let [stdout, stderr, isSent] = ['', '', false];
  npm.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  npm.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
    if (isSent || !stderr.includes('2/100')) return;
    isSent = true;
    process.kill(-npm.pid!, 'SIGINT');
  });
  const [code, signal] = await once(npm, 'close');
  // A shell calls both 130: npm ends as the shell of the script did.
  assert.ok(code === 130 || signal === 'SIGINT', `${code} ${signal}: ${stderr}`);
  assert.match(stderr, /1 of 2 groups is complete: first\. r\.json has it/);
  assert.match(stderr, /Stopped; nothing is left running\./);
  assert.match(stdout, /two, first/);
  const result = JSON.parse(readFileSync(join(folder, 'r.json'), 'utf8')) as BenchResult;
  assert.deepEqual(result.unfinished!.missing, ['last']);
});
