import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { engine, execFileSync, execSync, spawn, spawnSync } from '../src/index.ts';

const skip = engine().name === 'native' ? false : 'the native engine does not serve here';
const IN_FLIGHT = 60;

test('a Sync function finds the children that were asked for before it', async () => {
  const finds: Record<string, (args: string) => string> = {
    spawnSync: (args) => spawnSync('pgrep', ['-xf', args], { encoding: 'utf8' }).stdout,
    execFileSync: (args) => execFileSync('pgrep', ['-xf', args], { encoding: 'utf8' }),
    execSync: (args) => execSync(`pgrep -xf '${args}'`, { encoding: 'utf8' }),
  };
  for (const [name, find] of Object.entries(finds)) {
    for (let round = 0; round < 10; round++) {
      const time = `60.${process.pid}${round}`;
      const others = Array.from({ length: 8 }, () => spawn('true', { stdio: 'ignore' }));
      const child = spawn('sleep', [time], { stdio: 'ignore' });
      const found = find(`sleep ${time}`);
      const closed = [...others, child].map((one) => once(one, 'close'));
      assert.equal(Number(found), child.pid, name);
      child.kill('SIGKILL');
      await Promise.all(closed);
    }
  }
});

/** Starts a child for each that has ended, and counts them. */
const storm = `
  const { workerData } = require('node:worker_threads');
  const { spawn } = require(workerData.engine);
  const one = () => spawn('true', { stdio: 'ignore' }).on('close', () => {
    Atomics.add(workerData.ended, 0, 1);
    one();
  });
  for (let count = 0; count < ${IN_FLIGHT}; count++) one();`;

describe('while other threads start children without end', { skip, timeout: 600_000 }, () => {
  for (const [name, change] of Object.entries({
    'process.umask()': () => process.umask(0o22),
    'process.chdir()': () => process.chdir(process.cwd()),
  })) {
    test(`${name} waits for those of its own thread alone`, async () => {
      const ended = new Int32Array(new SharedArrayBuffer(4));
      const workerData = { ended, engine: join(import.meta.dirname, '../src/index.ts') };
      const execArgv = ['--no-warnings'];
      const workers = [0, 1].map(() => new Worker(storm, { eval: true, execArgv, workerData }));
      try {
        while (Atomics.load(ended, 0) < IN_FLIGHT) await sleep(5);
        const waited: number[] = [];
        for (let round = 0; round < 9; round++) {
          const own = once(spawn('true', { stdio: 'ignore' }), 'close');
          const before = Atomics.load(ended, 0);
          change();
          waited.push(Atomics.load(ended, 0) - before);
          await own;
        }
        // Now and then this thread is not run for a while.
        const usual = waited.toSorted((one, other) => one - other)[4]!;
        assert.ok(usual < IN_FLIGHT, `children that ended meanwhile: ${waited.join(' ')}`);
      } finally {
        await Promise.all(workers.map((worker) => worker.terminate()));
      }
    });
  }
});
