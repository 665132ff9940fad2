import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fork as nodeFork, spawnSync as nodeSpawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { engine, exec, execFile, fork, killTree, spawn, spawnSync } from '../../src/index.ts';
import { alive, newMark } from './trees.ts';
import { until } from '@redline/services/until';

const skip = engine().name === 'native' ? false : 'the native engine does not serve here';

const ENDED = { left: 0, signal: 'SIGKILL', isStrangerAlive: true };

function endLargeTree(file: string, args: string[]): unknown {
  const program = join(import.meta.dirname, 'large-tree.ts');
  const all = [...args, '--no-warnings', program];
  const { stdout, stderr } = nodeSpawnSync(file, all, { encoding: 'utf8' });
  assert.equal(stderr, '');
  return JSON.parse(stdout);
}

/** Where the control groups of version 2 are. */
const groups = readFileSync('/proc/self/mountinfo', 'utf8')
  .split('\n')
  .find((line) => line.includes(' - cgroup2 '))
  ?.split(' ')[4];
const HIDE = 'mount -o remount,bind,ro "$0"';
const cannotEndThread =
  nodeSpawnSync('python3', ['-c', 'import ctypes']).status === 0 ? false : 'Python is missing';
const cannotHide =
  groups !== undefined && nodeSpawnSync('unshare', ['-m', 'sh', '-c', HIDE, groups]).status === 0
    ? false
    : 'this user may not change what is mounted, or there are no groups';

describe('killTree', { skip, timeout: 600_000 }, () => {
  test('ends a tree of 200 processes that start others meanwhile, and no stranger', () => {
    assert.deepEqual(endLargeTree(process.execPath, []), ENDED);
  });

  test('does so where this process may not make control groups', { skip: cannotHide }, () => {
    const args = ['-m', 'sh', '-c', `${HIDE} && exec "$@"`, groups!, process.execPath];
    assert.deepEqual(endLargeTree('unshare', args), ENDED);
  });

  test('asks first, and kills what has not ended after the grace period', async () => {
    const mark = newMark();
    const script = `trap 'echo asked; exit 3' TERM; sh -c 'trap "" TERM; echo ready; while :; do sleep 1.${mark}; done' ${mark} & wait`;
    const child = spawn('sh', ['-c', script, mark], { killTree: { graceMs: 300 } });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    await until('it is ready', () => output.includes('ready'));
    const closed = once(child, 'close');
    assert.equal(child.kill(), true);
    assert.equal(child.killed, true);
    assert.deepEqual(await closed, [3, null]);
    assert.match(output, /asked/);
    assert.deepEqual(alive(mark), []);
  });

  test('reaches by timeout, by signal and by maxBuffer what holds the pipes', async () => {
    for (const way of ['timeout', 'signal', 'exec', 'execFile', 'maxBuffer'] as const) {
      const mark = newMark();
      const script = `sleep 60.${mark} & ${way === 'maxBuffer' ? 'echo much more; ' : ''}wait`;
      const controller = new AbortController();
      if (way === 'signal')
        void until('both run', () => alive(mark).length === 2).then(() => controller.abort());
      const options = { killTree: true, signal: controller.signal };
      if (way === 'timeout' || way === 'signal') {
        const timeout = way === 'timeout' ? 200 : 0;
        const child = spawn('sh', ['-c', script], { ...options, timeout });
        child.on('error', () => {});
        await new Promise((closed) => child.on('close', closed));
        assert.equal(child.signalCode, 'SIGTERM', way);
      } else {
        const limits = way === 'maxBuffer' ? { maxBuffer: 4 } : { timeout: 200 };
        const done =
          way === 'exec'
            ? promisify(exec)(script, { ...options, ...limits })
            : promisify(execFile)('sh', ['-c', script], { ...options, ...limits });
        await assert.rejects(done);
      }
      await until('none lives', () => alive(mark).length === 0);
    }
  });

  test('ends with a timeout what has outlived the child itself', async () => {
    const mark = newMark();
    const child = spawn('sh', ['-c', `(setsid sleep 60.${mark} &)`], {
      killTree: true,
      timeout: 400,
    });
    child.stdout.resume();
    await once(child, 'close');
    assert.deepEqual([child.exitCode, child.signalCode], [0, null]);
    assert.deepEqual(alive(mark), []);
  });

  test('finds descendants of a child that has ended, also without pipes', async () => {
    const mark = newMark();
    const script = `(setsid sleep 60.${mark} &) ; exit 0`;
    const child = spawn('sh', ['-c', script], { killTree: true, stdio: 'ignore' });
    await once(child, 'close');
    await until('one lives', () => alive(mark).length === 1);
    await killTree(child, 'SIGTERM');
    assert.deepEqual(alive(mark), []);
    await killTree(child);
  });

  test('is closed at once while a stranger, who is left alone, holds its pipe', async () => {
    const keep = `process.on('message', (_, handle) => { globalThis.kept = handle; process.send('kept'); });`;
    const stranger = nodeFork('--eval', [keep], { execArgv: [] });
    const program = `
      const { _handle } = new (require('node:net').Socket)({ fd: 1 });
      process.send('mine', _handle);
      setInterval(() => {}, 1e6);`;
    const child = spawn(process.execPath, ['--eval', program], {
      killTree: true,
      stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    });
    try {
      const [, handle] = (await once(child, 'message')) as [string, { close(): void }];
      const kept = once(stranger, 'message');
      stranger.send('yours', handle as never, () => handle.close());
      await kept;
      child.stdout!.resume();
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      assert.deepEqual(await closed, [null, 'SIGKILL']);
      assert.equal(stranger.connected && stranger.exitCode === null, true);
    } finally {
      child.kill('SIGKILL');
      stranger.kill('SIGKILL');
      await once(stranger, 'close');
    }
  });

  test('also ends a child that was started without the option', async () => {
    const mark = newMark();
    const child = spawn('sh', ['-c', `setsid sleep 60.${mark} & sleep 60.${mark} & wait`, mark]);
    await until('three live', () => alive(mark).length === 3);
    const closed = once(child, 'close');
    await killTree(child, 'SIGTERM', { graceMs: 2000 });
    assert.deepEqual(await closed, [null, 'SIGTERM']);
    assert.deepEqual(alive(mark), []);
  });

  test('ends the processes that a forked Node program has started, and its channel', async () => {
    const mark = newMark();
    const program = `require('node:child_process').spawn('sleep', ['60.${mark}'], { stdio: 'inherit', detached: true }); process.send('ready'); setInterval(() => {}, 1e6);`;
    const child = fork('-e', [program], {
      execPath: process.execPath,
      killTree: true,
      silent: true,
      execArgv: [],
    });
    await once(child, 'message');
    await until('one lives', () => alive(mark).length > 0);
    child.kill();
    await once(child, 'close');
    assert.equal(child.connected, false);
    await until('none lives', () => alive(mark).length === 0);
  });

  test('works for spawnSync', () => {
    const mark = newMark();
    const script = `trap '' TERM; setsid sleep 60.${mark} & wait; sleep 60.${mark}`;
    const options = { killTree: { graceMs: 100 }, timeout: 300 };
    const result = spawnSync('sh', ['-c', script, mark], options);
    assert.equal((result.error as NodeJS.ErrnoException).code, 'ETIMEDOUT');
    assert.deepEqual(alive(mark), []);
  });

  test('kills a process whose first thread has ended', { skip: cannotEndThread }, async () => {
    const program = `import ctypes, os, threading, time
threading.Thread(target=lambda: time.sleep(60)).start()
print(os.getpid(), flush=True)
ctypes.CDLL(None).pthread_exit(None)`;
    const child = spawn('sh', ['-c', 'python3 -c "$0" & wait; sleep 60', program], {
      killTree: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [printed] = (await once(child.stdout!, 'data')) as [Buffer];
    const line = () => readFileSync(`/proc/${Number(String(printed))}/stat`, 'latin1');
    await until('its first thread has ended', () => line().includes(') Z '));
    await killTree(child, 'SIGKILL');
    // Its number may be another's by now, whose first thread runs.
    const hasEnded = () => {
      try {
        const [state, ...fields] = line().split(') ')[1]!.split(' ');
        return state !== 'Z' || fields[16] === '1';
      } catch {
        return true;
      }
    };
    assert.equal(hasEnded(), true);
  });

  test('waits for processes that cannot be looked at for lack of descriptors', async () => {
    const mark = newMark();
    const entry = new URL('../../src/index.ts', import.meta.url).href;
    const program = `
      import { closeSync, openSync } from 'node:fs';
      import { once } from 'node:events';
      import { killTree, spawn } from ${JSON.stringify(entry)};
      const script = 'setsid sleep 60.${mark} & (setsid sleep 60.${mark} &); echo; wait';
      const child = spawn('sh', ['-c', script, '${mark}'], { killTree: true });
      await once(child.stdout, 'data');
      const taken = [];
      for (;;) try { taken.push(openSync('/dev/null')); } catch { break; }
      const exited = once(child, 'exit');
      const ended = killTree(child, process.argv[1]);
      await exited;
      for (const fd of taken) closeSync(fd);
      await ended;
      console.log('ended');`;
    for (const signal of ['SIGTERM', 'SIGKILL']) {
      const args = ['-c', 'ulimit -n 64; exec "$0" "$@"', process.execPath, '--no-warnings'];
      const all = [...args, '--input-type=module', '-e', program, signal];
      const { stdout, stderr } = await promisify(execFile)('sh', all);
      assert.deepEqual([stdout, stderr], ['ended\n', '']);
      assert.deepEqual(alive(mark), []);
    }
  });

  test('leaves other signals to the child alone', async () => {
    const mark = newMark();
    const script = `trap 'echo usr1' USR1; sleep 60.${mark} & echo ready; while :; do wait; done`;
    const child = spawn('sh', ['-c', script, mark], { killTree: true });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    await until('it is ready', () => output.includes('ready'));
    assert.equal(child.kill(0), true);
    child.kill('SIGUSR1');
    await until('it has the signal', () => output.includes('usr1'));
    assert.equal(alive(mark).length, 2);
    await killTree(child, 'SIGKILL');
    assert.deepEqual(alive(mark), []);
  });

  test('sends its signals before the program ends that exits at once', async () => {
    const mark = newMark();
    const entry = new URL('../../src/index.ts', import.meta.url).href;
    const program = `
      import { spawn } from ${JSON.stringify(entry)};
      const child = spawn('sh', ['-c', 'setsid sleep 60.${mark} & echo; wait', '${mark}'], { killTree: true });
      child.stdout.on('data', () => { child.kill('SIGKILL'); process.exit(0); });`;
    await promisify(execFile)(process.execPath, [
      '--no-warnings',
      '--input-type=module',
      '-e',
      program,
    ]);
    await until('none lives', () => alive(mark).length === 0);
  });

  test('names the value of an argument that is wrong', () => {
    const code = 'ERR_REDLINE_CHILD_PROCESS_OPTION';
    const start = (value: unknown) => () => spawn('true', { killTree: value } as never);
    assert.throws(start('yes'), {
      code,
      message: /killTree must be true, false or an object; got "yes"/,
    });
    assert.throws(start({ graceMs: -1 }), { code, message: /killTree\.graceMs .*; got -1/ });
    assert.throws(start({ grace: 1 }), { code, message: /Unknown option "grace" of killTree/ });
    const child = spawn('true');
    assert.throws(() => killTree(child, 'SIGNONE' as never), { code, message: /SIGNONE/ });
    assert.throws(() => killTree(child, 'SIGTERM', { graceMs: NaN }), { code, message: /NaN/ });
    assert.throws(() => killTree(42 as never), { code, message: /42/ });
  });
});
