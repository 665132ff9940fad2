import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childrenOf, isAlive, openPool } from './pools.ts';
import { until } from '@redline/services/until';

for (const transport of ['send', 'socket'] as const) {
  describe(`a worker over ${transport}`, () => {
    test('that is killed fails its children with a code, takes them with it, and is replaced', async (t) => {
      const pool = openPool(t, { size: 1, transport });
      const child = pool.spawn('sh', ['-c', 'echo begun; sleep 100']);
      const [first] = await once(child.stdout!, 'data');
      assert.equal(first.toString(), 'begun\n');
      const gathered = promisify(pool.exec)('echo half; sleep 100').catch((error) => error);
      const unborn = pool.spawn('echo', ['late']);
      const unbornEnd = once(unborn, 'close').catch((error: unknown) => error);
      const grandchildren = childrenOf(child.pid!);
      const [worker] = pool.workerPids;

      const failed = once(child, 'error');
      let hasEnded = false;
      child.stdout!.on('end', () => (hasEnded = true));
      process.kill(worker!, 'SIGKILL');
      const [error] = await failed;
      assert.equal(error.code, 'ERR_REDLINE_POOL_WORKER_DIED');
      assert.match(error.message, new RegExp(`pid ${worker}.*"sh"`));
      assert.equal(hasEnded, false);
      assert.equal(child.stdout!.destroyed, true);
      assert.equal(child.kill(), false);
      assert.equal((await gathered).code, 'ERR_REDLINE_POOL_WORKER_DIED');
      // It had been handed over but nothing was heard of it: an error too, unless it was done in time.
      const end = (await unbornEnd) as { code?: string } | unknown[];
      assert.ok(Array.isArray(end) || end.code === 'ERR_REDLINE_POOL_WORKER_DIED');

      for (const pid of [child.pid!, ...grandchildren]) {
        await until(`process ${pid} is gone`, () => !isAlive(pid));
      }
      const { stdout } = await promisify(pool.execFile)('echo', ['again']);
      assert.equal(stdout, 'again\n');
      assert.notEqual(pool.workerPids[0], worker);
    });

    test('that is killed has its process group signalled once: its number may be another’s by then', async (t) => {
      const pool = openPool(t, { size: 1, transport });
      const child = pool.spawn('sleep', ['100']);
      await once(child, 'spawn');
      const [worker] = pool.workerPids;
      const kill = t.mock.method(process, 'kill');
      const failed = once(child, 'error');
      process.kill(worker!, 'SIGKILL');
      await failed;
      await promisify(pool.execFile)('echo', ['again']);
      await pool.close();
      const signals = kill.mock.calls.filter((call) => call.arguments[0] === -worker!);
      assert.equal(signals.length, 1);
    });

    test('that cannot even start fails what waits for it, and is not started without end', async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'redline-pool-'));
      t.after(() => rmSync(folder, { recursive: true }));
      const starts = join(folder, 'starts');
      const runtime = join(folder, 'node');
      // It passes for a Node until it is asked to be one.
      writeFileSync(
        runtime,
        `#!/bin/sh\n[ "$1" = --version ] && echo v24.0.0 && exit\necho start >> ${starts}\nexit 3\n`,
      );
      chmodSync(runtime, 0o755);
      const pool = openPool(t, { size: 1, transport, runtime });
      const codes: string[] = [];
      for (let tries = 0; tries < 200 && !codes.includes('ERR_REDLINE_POOL_NO_WORKER'); tries++) {
        const [error] = await once(pool.spawn('echo', ['hi']), 'error');
        codes.push(error.code);
      }
      assert.equal(codes[0], 'ERR_REDLINE_POOL_WORKER_DIED');
      assert.equal(codes.at(-1), 'ERR_REDLINE_POOL_NO_WORKER');
      assert.ok(codes.length < 10, codes.join());
      await pool.close();
    });

    test('that is killed leaves the children of the others alone', async (t) => {
      const pool = openPool(t, { size: 2, transport, balance: 'round-robin' });
      const children = [pool.spawn('sleep', ['100']), pool.spawn('sleep', ['100'])];
      await Promise.all(children.map((child) => once(child, 'spawn')));
      const [first] = pool.workerPids;
      const hit = children.find(({ pid }) => childrenOf(first!).includes(pid!))!;
      const spared = children.find((child) => child !== hit)!;
      process.kill(first!, 'SIGKILL');
      await once(hit, 'error');
      assert.ok(isAlive(spared.pid!));
      spared.kill();
      assert.deepEqual(await once(spared, 'close'), [null, 'SIGTERM']);
    });

    test('does not outlive a parent that is killed, and neither do its children', async (t) => {
      const parent = fork(new URL('./fixtures/parent.ts', import.meta.url), [transport]);
      t.after(() => parent.kill('SIGKILL'));
      const [{ workers, child, detached }] = await once(parent, 'message');
      t.after(() => process.kill(detached, 'SIGKILL'));
      for (const pid of [...workers, child, detached]) assert.ok(isAlive(pid));
      parent.kill('SIGKILL');
      for (const pid of [...workers, child]) {
        await until(`process ${pid} is gone`, () => !isAlive(pid));
      }
      assert.ok(isAlive(detached), 'a detached child is meant to stay');
    });

    test('keeps its parent alive only while a child runs', async () => {
      const parent = fork(new URL('./fixtures/forgetful.ts', import.meta.url), [transport], {
        stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      });
      let out = '';
      parent.stdout!.on('data', (chunk: Buffer) => (out += chunk.toString()));
      assert.deepEqual(await once(parent, 'close'), [0, null]);
      assert.equal(out, 'done\n');
    });
  });

  describe(`a listener that throws over ${transport}`, () => {
    test('keeps no other child from its events', async () => {
      const parent = fork(new URL('./fixtures/throwing.ts', import.meta.url), [transport], {
        stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      });
      let out = '';
      parent.stdout!.on('data', (chunk: Buffer) => (out += chunk.toString()));
      assert.deepEqual(await once(parent, 'close'), [0, null]);
      assert.equal(out, '20 thrown, 20 closed\n');
    });
  });

  describe(`close over ${transport}`, () => {
    test('waits for what runs, takes nothing more, and leaves no process', async (t) => {
      const pool = openPool(t, { size: 3, transport });
      const child = pool.spawn('sh', ['-c', 'sleep 0.3; echo finished']);
      let out = '';
      child.stdout!.on('data', (chunk: Buffer) => (out += chunk.toString()));
      await once(child, 'spawn');
      const workers = pool.workerPids;
      assert.equal(workers.length, 3);
      const closing = pool.close();
      assert.throws(() => pool.spawn('echo'), { code: 'ERR_REDLINE_POOL_CLOSED' });
      await closing;
      assert.equal(out, 'finished\n');
      for (const pid of [...workers, child.pid!]) assert.equal(isAlive(pid), false);
    });

    test('ends what runs when it is given a signal', async (t) => {
      const pool = openPool(t, { size: 2, transport });
      const child = pool.spawn('sleep', ['100']);
      const closed = once(child, 'close');
      await pool.close({ killSignal: 'SIGTERM' });
      assert.deepEqual(await closed, [null, 'SIGTERM']);
    });

    test("does not wait for a child that was unref'ed, and lets a detached one live", async (t) => {
      const pool = openPool(t, { size: 1, transport });
      const child = pool.spawn('sleep', ['100']);
      const detached = pool.spawn('sleep', ['100'], { detached: true, stdio: 'ignore' });
      await Promise.all([once(child, 'spawn'), once(detached, 'spawn')]);
      t.after(() => process.kill(detached.pid!, 'SIGKILL'));
      child.unref();
      detached.unref();
      await pool.close();
      await until('the child is gone', () => !isAlive(child.pid!));
      assert.ok(isAlive(detached.pid!));
    });

    test('right after opening is fine', async (t) => {
      const pool = openPool(t, { size: 2, transport });
      await pool.close();
      await pool.close();
    });
  });
}
