import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { findOnPath, freePort } from '@redline/services';

const folder = join(import.meta.dirname, '../examples/process-per-request');
const servers: [file: string, env?: Record<string, string>][] = [
  ['baseline.js'],
  ['redline.js'],
  ['redline-http.js'],
  ['redline-pool.js', { SIZE: '2' }],
  ['redline-pool.js', { SIZE: '2', TRANSPORT: 'socket', BALANCE: 'round-robin' }],
  ['cluster.js'],
  ['worker-threads/server.js', { BALANCE: 'round-robin' }],
  ['child-process/server.js', { BALANCE: 'least-busy' }],
  ['comm-channel/server.js'],
  ['comm-channel/server.js', { BUFFER: 'string' }],
  ['send-logs/server.js'],
];
const runtimes = [
  { name: 'Node', command: [process.execPath] },
  { name: 'Bun', command: commandOf('bun') },
  { name: 'Deno', command: commandOf('deno', 'run', '--allow-all') },
];
const leftOut = new Set([
  'Bun redline-pool.js',
  'Deno redline-pool.js',
  // It leaves a connection unanswered now and then.
  'Deno cluster.js',
]);
const longestStartMs = 120_000;

for (const { name, command } of runtimes) {
  describe(`examples/process-per-request on ${name}`, { skip: command === undefined }, () => {
    for (const [file, env = {}] of servers) {
      if (leftOut.has(`${name} ${file}`)) continue;
      const shown = Object.entries(env).map(([key, value]) => `${key}=${value}`);
      test([...shown, file, 'answers both workloads'].join(' '), async () => {
        assert.equal(await answerOf(command!, file, { ...env, WORKLOAD: 'echo' }), 'hi\n');
        const text = await answerOf(command!, file, { ...env, WORKLOAD: 'cat' });
        assert.equal(text.length, 163 * 1024);
        assert.equal(text, readFileSync(join(folder, 'generated/main.txt'), 'latin1'));
      });
    }
  });
}

async function answerOf(
  [program, ...args]: string[],
  file: string,
  env: Record<string, string>,
): Promise<string> {
  const port = await freePort();
  const server = spawn(program!, [...args, join(folder, 'src', file)], {
    env: { ...process.env, ...env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => ask(`http://127.0.0.1:${port}/`)),
    );
    assert.equal(new Set(answers).size, 1, 'every request gets the same answer');
    return answers[0]!;
  } finally {
    const ended = once(server, 'exit');
    server.kill();
    await ended;
  }
}

async function ask(url: string): Promise<string> {
  for (let waitedMs = 0; ; waitedMs += 50) {
    try {
      const response = await fetch(url, { headers: { connection: 'close' } });
      assert.equal(response.status, 200);
      return await response.text();
    } catch (error) {
      if (error instanceof assert.AssertionError || waitedMs > longestStartMs) throw error;
      await sleep(50);
    }
  }
}

function commandOf(program: string, ...args: string[]): string[] | undefined {
  const file = findOnPath(program);
  return file === undefined ? undefined : [file, ...args];
}
