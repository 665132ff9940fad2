import assert from 'node:assert/strict';
import * as nodes from 'node:child_process';
import { once } from 'node:events';
import { describe, mock, test } from 'node:test';
import { promisify } from 'node:util';
import * as redline from '../src/index.ts';
import type { ChildProcessModule } from './behaviour/trace.ts';

const engines = {
  "Node's": nodes,
  'the engine': redline as unknown as ChildProcessModule,
} as const;
const code = 'process.send("hello", () => process.disconnect())';

/** Each waits for children while the program's own timers stand still. */
const programs: Record<string, (cp: ChildProcessModule) => Promise<unknown>> = {
  'a child without a reader': async (cp) => once(cp.spawn('echo', ['hi']), 'close'),
  'a child with a reader': async (cp) => {
    const child = cp.spawn('sh', ['-c', 'echo out; exit 3']);
    let text = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    return [await once(child, 'close'), text];
  },
  'a child whose channel brings something': async (cp) => {
    const child = cp.fork('-e', [code], { execArgv: [], silent: true });
    const [message] = await once(child, 'message');
    return [message, await once(child, 'close')];
  },
  'timeout of spawn': (cp) => once(cp.spawn('sleep', ['60'], { timeout: 50 }), 'close'),
  'timeout of execFile': async (cp) => {
    const { killed, signal } = await promisify(cp.execFile)('sleep', ['60'], { timeout: 50 }).then(
      () => assert.fail('it has not ended'),
      (error: nodes.ExecFileException) => error,
    );
    return [killed, signal];
  },
  'a child that signals this process, which listens': async (cp) => {
    const heard = once(process, 'SIGHUP');
    const child = cp.spawn('sh', ['-c', `kill -HUP ${process.pid}`], { stdio: 'ignore' });
    return Promise.all([once(child, 'close'), heard]);
  },
};

// Jest, Vitest and Sinon replace the same globals.
describe('while timers are mocked', { timeout: 600_000 }, () => {
  for (const [name, program] of Object.entries(programs)) {
    test(`as node:child_process, ${name}`, async (t) => {
      t.after(() => mock.timers.reset());
      mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate'] });
      const [expected, actual] = [
        await program(engines["Node's"]),
        await program(engines['the engine']),
      ];
      assert.deepEqual(actual, expected);
    });
  }

  test('the engine of `register` has Node’s own, also if it is loaded then', () => {
    const register = import.meta.resolve('../src/register.ts');
    const program = `
      const { mock } = require('node:test');
      const { spawn } = require('node:child_process');
      mock.timers.enable({ apis: ['setTimeout', 'setImmediate'] });
      spawn('sleep', ['60'], { timeout: 50 }).on('close', (code, signal) => { console.log(signal); process.exit(); });`;
    const args = ['--no-warnings', '--import', register, '--eval', program];
    const { stdout, stderr } = nodes.spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.deepEqual([stdout, stderr], ['SIGTERM\n', '']);
  });
});
