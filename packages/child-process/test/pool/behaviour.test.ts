import assert from 'node:assert/strict';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { PoolOptions, Transport } from '../../src/pool/index.ts';
import { findBun, isAlive, openPool } from './pools.ts';
import { until } from '@redline/services/until';

const bun = findBun();
const transports: Transport[] = ['send', 'socket'];
const kinds = [
  ...transports.map((transport) => ({ runtime: 'node', transport, skip: false as const })),
  ...transports.map((transport) => ({
    runtime: bun ?? 'bun',
    transport,
    skip: bun === undefined && 'there is no Bun',
  })),
];

for (const { runtime, transport, skip } of kinds) {
  const options: PoolOptions = { size: 2, runtime, transport };
  const name = `${runtime === 'node' ? 'Node' : 'Bun'} workers over ${transport}`;

  describe(`a pool of ${name}`, { skip }, () => {
    test('tells of a child in the order node:child_process does', async (t) => {
      const pool = openPool(t, options);
      const child = pool.spawn('sh', ['-c', 'cat; echo oops >&2; exit 3']);
      const seen: unknown[] = [];
      for (const event of ['spawn', 'error', 'exit', 'close']) {
        child.on(event, (...values: unknown[]) => seen.push([event, ...values]));
      }
      let out = '';
      let err = '';
      child.stdout!.on('data', (chunk: Buffer) => (out += chunk.toString()));
      child.stderr!.on('data', (chunk: Buffer) => (err += chunk.toString()));
      assert.equal(child.pid, undefined);
      child.stdin!.end('h€llo');
      await once(child, 'close');
      assert.deepEqual(seen, [['spawn'], ['exit', 3, null], ['close', 3, null]]);
      assert.deepEqual([out, err], ['h€llo', 'oops\n']);
      assert.equal(child.exitCode, 3);
      assert.equal(typeof child.pid, 'number');
      assert.deepEqual(child.spawnargs, ['sh', '-c', 'cat; echo oops >&2; exit 3']);
    });

    test('reports a program that is not there as Node does', async (t) => {
      const pool = openPool(t, options);
      const child = pool.spawn('no-such-program', ['x']);
      const closed = new Promise((resolve) => child.on('close', (...ended) => resolve(ended)));
      const [error] = (await once(child, 'error')) as [NodeJS.ErrnoException];
      assert.equal(error.message, 'spawn no-such-program ENOENT');
      assert.equal(error.code, 'ENOENT');
      assert.equal(error.errno, -2);
      assert.equal(error.path, 'no-such-program');
      assert.deepEqual((error as { spawnargs?: unknown }).spawnargs, ['x']);
      assert.deepEqual(await closed, [-2, null]);
    });

    test('kills with the signal it is told, even before the child is up', async (t) => {
      const pool = openPool(t, options);
      const child = pool.spawn('sleep', ['100']);
      assert.equal(child.kill('SIGUSR1'), true);
      assert.equal(child.killed, true);
      assert.deepEqual(await once(child, 'close'), [null, 'SIGUSR1']);
      assert.equal(child.signalCode, 'SIGUSR1');
      assert.equal(child.kill(), false);
      assert.throws(() => child.kill('SIGNONE' as never), { code: 'ERR_UNKNOWN_SIGNAL' });
    });

    test('gives a child its folder, its environment and its shell', async (t) => {
      const pool = openPool(t, options);
      const exec = promisify(pool.exec);
      const folder = realpathSync(tmpdir());
      const { stdout } = await exec('pwd; echo $A; env | grep -c -e REDLINE_POOL -e NODE_CHANNEL', {
        cwd: folder,
        env: { A: 'ä', PATH: process.env['PATH'] },
      }).catch((error) => error);
      assert.equal(stdout, `${folder}\nä\n0\n`);
      const own = await promisify(pool.execFile)('sh', ['-c', 'pwd; env']);
      assert.match(String(own.stdout), new RegExp(`^${process.cwd()}\n`));
      assert.doesNotMatch(String(own.stdout), /REDLINE_POOL|NODE_CHANNEL/);
    });

    test('gathers output as exec and execFile do', async (t) => {
      const pool = openPool(t, options);
      const execFile = promisify(pool.execFile);
      assert.deepEqual(await execFile('echo', ['hi']), { stdout: 'hi\n', stderr: '' });
      const bytes = await execFile('printf', ['\\377'], { encoding: 'buffer' });
      assert.deepEqual(bytes.stdout, Buffer.from([0xff]));
      const failed = await promisify(pool.exec)('echo out; echo err >&2; exit 7').catch((e) => e);
      assert.equal(failed.message, 'Command failed: echo out; echo err >&2; exit 7\nerr\n');
      assert.deepEqual(
        [failed.code, failed.killed, failed.signal, failed.cmd, failed.stdout, failed.stderr],
        [7, false, null, 'echo out; echo err >&2; exit 7', 'out\n', 'err\n'],
      );
      const callback = await new Promise((resolve) => {
        pool.exec('echo called', (...values) => resolve(values));
      });
      assert.deepEqual(callback, [null, 'called\n', '']);
    });

    test('ends a child that writes more than maxBuffer', async (t) => {
      const pool = openPool(t, options);
      const failed = await promisify(pool.execFile)('yes', { maxBuffer: 10 } as never).catch(
        (error) => error,
      );
      assert.equal(failed.code, 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER');
      assert.equal(failed.stdout, 'y\ny\ny\ny\ny\n');
    });

    test('ends a child at its timeout, and on abort with an AbortError', async (t) => {
      const pool = openPool(t, options);
      const late = pool.spawn('sleep', ['100'], { timeout: 50, killSignal: 'SIGKILL' });
      assert.deepEqual(await once(late, 'close'), [null, 'SIGKILL']);
      const slow = await promisify(pool.exec)('sleep 100', { timeout: 50 }).catch((e) => e);
      assert.deepEqual([slow.killed, slow.signal, slow.code], [true, 'SIGTERM', null]);

      const controller = new AbortController();
      const child = pool.spawn('sleep', ['100'], { signal: controller.signal });
      const closed = once(child, 'close').catch(() => {});
      await once(child, 'spawn');
      const failed = once(child, 'error');
      controller.abort('enough');
      const [error] = await failed;
      assert.deepEqual(
        [error.name, error.code, error.cause],
        ['AbortError', 'ABORT_ERR', 'enough'],
      );
      await closed;
      await until('the child is gone', () => !isAlive(child.pid!));
      const never = pool.spawn('sleep', ['100'], { signal: AbortSignal.abort() });
      assert.equal((await once(never, 'error'))[0].code, 'ABORT_ERR');
    });

    test('runs 200 at once and mixes none of them up', async (t) => {
      const pool = openPool(t, options);
      const execFile = promisify(pool.execFile);
      const numbers = Array.from({ length: 200 }, (_, n) => `number ${n}`);
      const answers = await Promise.all(numbers.map((n) => execFile('echo', [n])));
      assert.deepEqual(
        answers.map(({ stdout }) => stdout),
        numbers.map((n) => `${n}\n`),
      );
    });

    test('takes its input back-pressured, byte for byte', async (t) => {
      const pool = openPool(t, options);
      const child = pool.spawn('wc', ['-c']);
      let out = '';
      child.stdout!.on('data', (chunk: Buffer) => (out += chunk.toString()));
      const chunk = Buffer.alloc(100_000, 7);
      let refusals = 0;
      for (let i = 0; i < 1_000; i++) {
        if (child.stdin!.write(chunk)) continue;
        refusals++;
        await once(child.stdin!, 'drain');
      }
      child.stdin!.end();
      await once(child, 'close');
      assert.equal(out.trim(), '100000000');
      assert.ok(refusals > 100, `${refusals} refusals`);
    });

    const swallowed = runtime !== 'node' && 'Bun says nothing of a pipe nobody reads';
    test('reports EPIPE on stdin when the child reads no more', { skip: swallowed }, async (t) => {
      const pool = openPool(t, options);
      const child = pool.spawn('sh', ['-c', 'exec 0<&-; sleep 100']);
      const failed = once(child.stdin!, 'error');
      const writing = setInterval(() => child.stdin!.write('x'), 5);
      t.after(() => clearInterval(writing));
      const [error] = await failed;
      clearInterval(writing);
      assert.equal(error.code, 'EPIPE');
      await pool.close({ killSignal: 'SIGKILL' });
    });
  });
}
