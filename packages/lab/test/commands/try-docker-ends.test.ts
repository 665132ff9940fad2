import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test } from 'node:test';
import { findOnPath } from '@redline/services';
import { quotedWord } from '../../src/config/command-line.ts';
import { ContainerBench } from './container-bench.ts';
import { command, finished } from './run-cli.ts';

const skip = process.platform === 'linux' ? false : 'the stand-in for a container needs /proc';
const trial = ['--', 'node', 'app.cjs'];

const app = `
const { appendFileSync } = require('node:fs');
require('node:http').createServer((request, response) => {
  appendFileSync(process.env.STAND_IN + '/asked', 'x');
  response.end('ok');
}).listen(process.env.PORT);`;

/** Waits until a step in the container does not end, or its load is under way. */
async function until(child: ChildProcess, isThere: () => boolean): Promise<void> {
  while (!isThere() && child.exitCode === null) await sleep(50);
}

describe('redline try --docker leaves no container', { skip }, () => {
  const hanging = (bench: ContainerBench): (() => boolean) => {
    const file = join(bench.state, 'hangs');
    writeFileSync(file, '');
    return () => readFileSync(file, 'utf8') !== '';
  };
  const loaded = (bench: ContainerBench): (() => boolean) => {
    const file = join(bench.state, 'asked');
    return () => existsSync(file) && readFileSync(file).length > 30;
  };
  const slow = (bench: ContainerBench): (() => boolean) => {
    const file = join(bench.state, 'begun');
    // The daemon goes on with a container when its client has gone.
    bench.extra = { STAND_IN_SLOW: file };
    return () => existsSync(file);
  };

  const cases = [
    ['Ctrl-C at a terminal, which reaches the whole group', 'SIGINT', true, 130, hanging],
    ['SIGINT for redline alone', 'SIGINT', false, 130, loaded],
    ['SIGTERM while the container is being created', 'SIGTERM', false, 143, slow],
    ['SIGTERM for the whole group', 'SIGTERM', true, 143, loaded],
    ['SIGHUP, as when the terminal is closed', 'SIGHUP', true, 129, hanging],
  ] as const;
  for (const [what, signal, isForAll, status, when] of cases) {
    test(`after ${what}, and exits with ${status}`, async (t) => {
      const bench = new ContainerBench(t);
      bench.file('app.cjs', app);
      const isThere = when(bench);
      const child = bench.startTry(['--restarts', '50', ...trial]);
      const ended = finished(child);
      await until(child, isThere);
      process.kill(isForAll ? -child.pid! : child.pid!, signal);
      const { code, stdout, stderr } = await ended;
      assert.equal(code, status, stderr);
      assert.match(stderr, /Stopped; nothing is left running\.\n$/);
      assert.equal(stdout, '');
      assert.deepEqual(await bench.left(), []);
    });
  }

  test('when a second signal ends it at once', async (t) => {
    const bench = new ContainerBench(t);
    bench.file('app.cjs', app);
    const isThere = hanging(bench);
    const child = bench.startTry(trial);
    const ended = finished(child);
    await until(child, isThere);
    child.kill('SIGINT');
    child.kill('SIGTERM');
    const { code, stderr } = await ended;
    assert.ok(code === 130 || code === 143, `${code} ${stderr}`);
    assert.deepEqual(await bench.left(), []);
  });

  test('when it is killed: the container ends by itself', async (t) => {
    const bench = new ContainerBench(t);
    bench.file('app.cjs', app);
    const isThere = hanging(bench);
    const child = bench.startTry(trial);
    const ended = finished(child);
    await until(child, isThere);
    child.kill('SIGKILL');
    await ended;
    while (bench.containers().length > 0) await sleep(50);
    assert.deepEqual(await bench.left(), []);
  });
});

const needsTerminal =
  skip || (findOnPath('script') === undefined && 'script, which makes a terminal, is not on PATH');

describe('redline try --docker at a terminal', { skip: needsTerminal }, () => {
  /** What a person sees and types there. */
  async function typed(
    bench: ContainerBench,
    keys: string,
  ): Promise<{ code: number; text: string }> {
    const line = [process.execPath, command, 'try', '--docker', ...trial].map(quotedWord).join(' ');
    const child = spawn('script', ['-qec', line, '/dev/null'], {
      cwd: bench.folder,
      env: {
        ...process.env,
        NO_COLOR: '1',
        SHELL: '/bin/sh',
        ...bench.env(),
        PATH: `${bench.env()['PATH']}:${process.env['PATH']}`,
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (!/Go on\?/.test(text) || keys === '') return;
      child.stdin.write(keys);
      keys = '';
    });
    const code = await new Promise<number>((resolve) => {
      child.on('close', (status) => resolve(status!));
    });
    return { code, text };
  }

  test('asks once, and takes no for an answer', async (t) => {
    const bench = new ContainerBench(t);
    bench.file('app.cjs', app);
    const { code, text } = await typed(bench, 'n\n');
    assert.equal(code, 0, text);
    assert.match(text, /Go on\? \[Y\/n\].*Stopped; nothing was requested\./s);
    assert.equal(existsSync(join(bench.state, 'asked')), false);
    assert.deepEqual(await bench.left(), []);
  });

  test('ends at a Ctrl-C instead of an answer', async (t) => {
    const bench = new ContainerBench(t);
    bench.file('app.cjs', app);
    const { code, text } = await typed(bench, '\x03');
    assert.equal(code, 130, text);
    assert.match(text, /Stopped; nothing is left running\./);
    assert.deepEqual(await bench.left(), []);
  });
});
