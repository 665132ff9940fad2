import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { engine, exec, execFile, spawn } from '../src/index.ts';
import { until } from '@redline/services/until';
import { descriptors, residentMiB, zombies } from './usage.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** 2,000 children in `npm test`, 20,000 in `npm run test:all`. */
const SPAWNS = Number(process.env['REDLINE_SPAWNS'] ?? 2_000);
const few = process.env['REDLINE_SPAWNS'] === undefined && 'npm run test:all has enough children';
const churn = join(import.meta.dirname, 'churn.ts');
const skip = engine().name === 'native' ? false : 'the native engine does not serve here';

describe('the native engine', { skip, timeout: 600_000 }, () => {
  test('leaves no descriptor, no zombie and no memory behind', async () => {
    // V8's young generation would grow for as long as it may, and hide what the engine keeps.
    const flags = ['--no-warnings', '--expose-gc', '--max-semi-space-size=1'];
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...flags,
      churn,
      String(SPAWNS),
    ]);
    const { before, after } = JSON.parse(stdout);
    assert.equal(after.zombies, 0);
    assert.ok(after.descriptors <= before.descriptors + 2, JSON.stringify({ before, after }));
    assert.ok(after.resident <= before.resident + 10, JSON.stringify({ before, after }));
  });

  test(
    'holds no more memory than node:child_process does after as many',
    { skip: few },
    async () => {
      const flags = ['--no-warnings', '--expose-gc', '--max-semi-space-size=1'];
      const resident: number[] = [];
      for (const module of ['../src/index.ts', 'node:child_process']) {
        const args = [...flags, churn, String(SPAWNS / 2), module];
        const { stdout } = await promisify(execFile)(process.execPath, args);
        resident.push(JSON.parse(stdout).after.resident);
      }
      assert.ok(resident[0]! <= resident[1]! + 32, `${resident[0]} against ${resident[1]} MiB`);
    },
  );

  test('keeps nothing of what Sync functions returned, though no turn of the loop comes', async () => {
    const entry = new URL('../src/index.ts', import.meta.url).href;
    const program = `
      import { spawnSync } from ${JSON.stringify(entry)};
      const before = process.memoryUsage.rss();
      for (let i = 0; i < 1_500; i++) spawnSync('head', ['-c', '200000', '/dev/zero']);
      console.log((process.memoryUsage.rss() - before) / 2 ** 20);`;
    const args = ['--no-warnings', '--input-type=module', '--eval', program];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    // Of 290 MiB; V8 collects at some 60.
    assert.ok(Number(stdout) < 150, stdout);
  });

  test('survives 500 children at once that are killed at random', async () => {
    const before = descriptors();
    const ends = Array.from({ length: 500 }, async (_, index) => {
      const child = spawn('sleep', ['20']);
      if (index % 3 === 0) child.stdout.on('data', () => {});
      const closed = once(child, 'close');
      await sleep(Math.random() * 200);
      child.kill(index % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
      return (await closed)[1];
    });
    const signals = await Promise.all(ends);
    for (const [index, signal] of signals.entries()) {
      assert.equal(signal, index % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
    }
    await until('nothing is left', () => zombies() === 0 && descriptors() <= before + 2);
  });

  test('reports each of a burst of failures once', async () => {
    const before = descriptors();
    const bad = [
      () => spawn('redline-no-such-program'),
      () => spawn('/etc/passwd'),
      () => spawn('true', { cwd: '/nowhere' }),
      () => spawn('true', ['x'.repeat(200_000)]),
      () => spawn('/etc/passwd/x'),
    ];
    const codes = await Promise.all(
      Array.from({ length: 500 }, async (_, index) => {
        try {
          const child = bad[index % bad.length]!();
          const errors: string[] = [];
          child.on('error', (error: NodeJS.ErrnoException) => errors.push(error.code!));
          await new Promise((resolve) => child.on('close', resolve));
          return errors.join();
        } catch (error) {
          return `thrown ${(error as NodeJS.ErrnoException).code}`;
        }
      }),
    );
    const expected = ['ENOENT', 'EACCES', 'ENOENT', 'thrown E2BIG', 'thrown ENOTDIR'];
    assert.deepEqual(
      codes,
      codes.map((_, index) => expected[index % expected.length]),
    );
    await until('nothing is left', () => zombies() === 0 && descriptors() <= before + 2);
  });

  test('a gigabyte into a paused reader stays in the child', async () => {
    const child = spawn('head', ['-c', String(2 ** 30), '/dev/zero']);
    child.stdout.once('data', () => child.stdout.pause());
    const before = residentMiB();
    await sleep(1000);
    const after = residentMiB();
    child.kill();
    await once(child, 'exit');
    assert.ok(after - before <= 32, `${before} then ${after} MiB`);
  });

  test('a gigabyte to a slow reader arrives, in bounded memory', async () => {
    const size = 2 ** 30;
    const child = spawn('head', ['-c', String(size), '/dev/zero']);
    const before = residentMiB();
    let most = 0;
    let length = 0;
    let chunks = 0;
    for await (const chunk of child.stdout) {
      length += chunk.length;
      if (++chunks % 200 === 0) {
        await sleep(2);
        // Chunks that were read are garbage, and not what is bounded.
        collectGarbage();
        most = Math.max(most, process.memoryUsage.rss() / 2 ** 20);
      }
    }
    assert.equal(length, size);
    assert.ok(most - before <= 96, `${before} then ${most} MiB`);
  });

  test('a hundred megabytes go through stdin and come back', async () => {
    const child = spawn('cat');
    const block = Buffer.alloc(2 ** 20, 'x');
    let received = 0;
    child.stdout.on('data', (chunk) => (received += chunk.length));
    for (let count = 0; count < 100; count++) {
      if (!child.stdin.write(block)) await once(child.stdin, 'drain');
    }
    child.stdin.end();
    await once(child, 'close');
    assert.equal(received, 100 * 2 ** 20);
  });

  test('output read after the exit is still there', async () => {
    const child = spawn('echo', ['late']);
    await once(child, 'exit');
    let text = '';
    for await (const chunk of child.stdout) text += chunk;
    assert.equal(text, 'late\n');
  });

  test('children are started by threads of the engine, not by that of the event loop', async (t) => {
    const childrenOf = (thread: string): number[] =>
      readFileSync(`/proc/self/task/${thread}/children`, 'utf8').trim().split(' ').map(Number);
    if (!existsSync(`/proc/self/task/${process.pid}/children`)) {
      t.skip('this kernel does not tell which thread has started a process');
      return;
    }
    const child = spawn('sleep', ['20'], { stdio: 'ignore' });
    await once(child, 'spawn');
    const starters = readdirSync('/proc/self/task').filter((thread) =>
      childrenOf(thread).includes(child.pid!),
    );
    child.kill();
    await once(child, 'close');
    assert.equal(starters.length, 1);
    assert.notEqual(starters[0], String(process.pid));
  });

  test('near the limit of descriptors, most of those start that Node starts', async () => {
    const program = `
      const { spawn } = await import(process.argv[1]);
      let started = 0;
      const closed = Array.from({ length: 60 }, () => {
        const child = spawn('sleep', ['0.5']);
        child.on('spawn', () => started++).on('error', () => {});
        return new Promise((resolve) => child.on('close', resolve));
      });
      await Promise.all(closed);
      console.log(started);`;
    const started = async (module: string): Promise<number> => {
      const command = 'ulimit -n 128; exec "$0" --no-warnings --input-type=module --eval "$1" "$2"';
      const args = ['-c', command, process.execPath, program, module];
      const { stdout } = await promisify(execFile)('bash', args);
      return Number(stdout);
    };
    const entry = new URL('../src/index.ts', import.meta.url).href;
    const [ours, nodes] = [await started(entry), await started('node:child_process')];
    assert.ok(ours > 0.6 * nodes, `${ours} of ${nodes}`);
  });

  test('exec of a program that floods both outputs ends', async () => {
    const error = await new Promise<NodeJS.ErrnoException | null>((resolve) =>
      exec('yes & yes >&2', { maxBuffer: 1000 }, (failure) =>
        resolve(failure as NodeJS.ErrnoException),
      ),
    );
    assert.equal(error?.code, 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER');
  });
});
