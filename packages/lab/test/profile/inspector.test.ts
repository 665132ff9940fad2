import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, test, type TestContext } from 'node:test';
import { LabError } from '../../src/errors.ts';
import { Inspector } from '../../src/profile/inspector.ts';

/** The inspector of a process that runs until it is ended. */
async function inspected(t: TestContext): Promise<{ inspector: Inspector; end(): void }> {
  const child = spawn(
    process.execPath,
    ['--inspect=127.0.0.1:0', '-e', 'setInterval(() => {}, 1e6)'],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  t.after(() => child.kill('SIGKILL'));
  const [line] = (await once(createInterface(child.stderr), 'line')) as [string];
  const exited = once(child, 'exit');
  const server = {
    get hasEnded(): boolean {
      return child.exitCode !== null || child.signalCode !== null;
    },
    ended: async (): Promise<void> => void (await exited),
    failure: async (what: string): Promise<LabError> =>
      new LabError('ERR_REDLINE_SERVER', `"app" ${what}.`),
  };
  const url = /ws:\S+/.exec(line)![0];
  const inspector = await Inspector.connect(server, url, t.signal);
  t.after(() => inspector[Symbol.dispose]());
  return { inspector, end: () => void child.kill('SIGKILL') };
}

describe('an event of the inspector', () => {
  test('is awaited', async (t) => {
    const { inspector } = await inspected(t);
    const context = inspector.next<{ context: { id: number } }>('Runtime.executionContextCreated');
    await inspector.ask('Runtime.enable');
    assert.equal(typeof (await context).context.id, 'number');
  });

  test('that can no longer come is an error', async (t) => {
    const { inspector, end } = await inspected(t);
    const event = inspector.next('HeapProfiler.lastSeenObjectId');
    end();
    await assert.rejects(event, { code: 'ERR_REDLINE_SERVER' });
    await assert.rejects(inspector.next('HeapProfiler.lastSeenObjectId'), {
      code: 'ERR_REDLINE_SERVER',
    });
  });
});
