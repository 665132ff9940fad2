import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { engine } from '../src/index.ts';
import { until } from '@redline/services/until';

const skip = engine().name === 'native' ? false : 'the native engine does not serve here';
const source = join(import.meta.dirname, '../src/index.ts');
const CHILDREN = 20;

/** How a parent ends by itself, right after it has started its children. */
const ends: Record<string, string> = {
  'process.abort()': 'process.abort();',
  'process.kill(process.pid, "SIGTERM")': 'process.kill(process.pid, "SIGTERM");',
  'process.kill(process.pid, "SIGKILL")': 'process.kill(process.pid, "SIGKILL");',
  'a signal to its own group': 'process.kill(0, "SIGKILL");',
  'a process.kill that was taken before': 'kill(process.pid, "SIGTERM");',
  'process.exit()': 'process.exit(1);',
  'process.reallyExit()': 'process.reallyExit(1);',
  'an uncaught error': 'throw new Error("meant");',
};
if ('execve' in process)
  ends['process.execve()'] = 'process.execve("/bin/true", ["true"], process.env);';

describe('a parent that ends right after it has started children', { skip }, () => {
  let folder = '';
  before(() => (folder = mkdtempSync(join(tmpdir(), 'redline-ends-'))));
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function startedBy(code: string, name: string): Promise<number> {
    const log = join(folder, name);
    // A session of its own, and each child too: a signal to the group is meant for the parent.
    const program = `
      const { kill } = process;
      globalThis.kill = kill;
      import(${JSON.stringify(source)}).then(({ spawn }) => {
        setImmediate(() => {
          const start = () => {
            for (let n = 0; n < ${CHILDREN}; n++)
              spawn('sh', ['-c', 'echo started >> "$0"', ${JSON.stringify(log)}], { detached: true, stdio: 'ignore' });
          };
          ${code}
        });
      });`;
    spawnSync('setsid', ['-w', process.execPath, '--no-warnings', '-e', program], {
      stdio: 'ignore',
    });
    const lines = (): number =>
      existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0;
    await until('all of them have started', () => lines() >= CHILDREN);
    return lines();
  }

  for (const [index, [name, end]] of Object.entries(ends).entries()) {
    test(`by ${name} has started all of them`, async () => {
      assert.equal(await startedBy(`start(); ${end}`, `end-${index}`), CHILDREN);
    });
  }

  test('by a signal that a worker sends has started all of them', async () => {
    const code = `
      const { Worker } = require('node:worker_threads');
      const flag = new Int32Array(new SharedArrayBuffer(4));
      const worker = new Worker(\`
        const { workerData: { flag, source }, parentPort } = require('node:worker_threads');
        import(source).then(({ spawn }) => {
          spawn('true').on('close', () => {
            parentPort.postMessage('ready');
            Atomics.wait(flag, 0, 0);
            process.kill(process.pid, 'SIGKILL');
          });
        });\`, { eval: true, workerData: { flag, source: ${JSON.stringify(source)} }, execArgv: ['--no-warnings'] });
      worker.once('message', () => {
        start();
        Atomics.store(flag, 0, 1);
        Atomics.notify(flag, 0);
        for (;;);
      });`;
    assert.equal(await startedBy(code, 'worker'), CHILDREN);
  });
});
