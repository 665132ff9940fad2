// A process that is asked to end: by whichever signal, and as process 1 of a container, too.
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { createDefer } from '../src/create-defer.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestSink } from './harness.ts';

const source = (file: string): string => JSON.stringify(join(import.meta.dirname, '../src', file));

const program = (directory: string, more = ''): string => `
  const [{ createDefer, defineJob }, { handlers }] = await Promise.all([import(${source('index.ts')}), import(${source('sinks/handlers.ts')})]);
  const deferrer = createDefer({
    sinks: { test: { kind: 'test', async send() { throw new Error('It is away.'); } } },
    journal: { directory: ${JSON.stringify(directory)} },
    drainMs: 0,
    logger: false,
  });
  await deferrer.ready();
  deferrer.defer(defineJob('note'), 'kept');
  setInterval(() => {}, 1_000);
  ${more}
  console.log('ready');
`;

function start(code: string, wrap: readonly string[] = []): ChildProcess {
  const [command, ...args] = [
    ...wrap,
    process.execPath,
    '--no-warnings',
    '--input-type=module',
    '-e',
    code,
  ];
  return spawn(command!, args, { stdio: ['ignore', 'pipe', 'inherit'], cwd: import.meta.dirname });
}

async function leftIn(t: TestContext, directory: string): Promise<unknown[]> {
  const sink = new TestSink();
  const next = createDefer({
    sinks: { test: sink },
    journal: { directory },
    logger: false,
    handleSignals: false,
  });
  t.after(() => next.close());
  await next.ready();
  await until('the jobs', () => next.queues.get('test')!.depth === 0);
  return sink.data;
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const) {
  test(`${signal} ends the process, and its journal has the jobs of level memory`, async (t) => {
    const directory = temporaryFolder(t);
    const child = start(program(directory));
    await once(child.stdout!, 'data');
    child.kill(signal);
    const [code, by] = await once(child, 'exit');
    assert.deepEqual([code, by], [null, signal]);
    assert.deepEqual(await leftIn(t, directory), ['kept']);
  });
}

test('a signal that means something else to the app ends and drains nothing', async (t) => {
  const directory = temporaryFolder(t);
  const child = start(
    program(directory, "process.on('SIGHUP', () => console.log('a new configuration'));"),
  );
  await once(child.stdout!, 'data');
  child.kill('SIGHUP');
  const [said] = await once(child.stdout!, 'data');
  assert.match(String(said), /a new configuration/);
  child.kill('SIGTERM');
  await once(child, 'exit');
  assert.deepEqual(await leftIn(t, directory), ['kept']);
});

const unshare = ['unshare', '--fork', '--pid', '--mount-proc', '--kill-child'];
const canUnshare = spawnSync(unshare[0]!, [...unshare.slice(1), 'true']).status === 0;

for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
  test(
    `${signal} ends process 1 of a container, for which the kernel has no default action`,
    { skip: canUnshare ? false : 'this system lets the test make no pid namespace (unshare)' },
    async (t) => {
      const directory = temporaryFolder(t);
      const child = start(program(directory), unshare);
      await once(child.stdout!, 'data');
      const inner = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'));
      process.kill(inner, signal);
      const [code] = await once(child, 'exit');
      assert.equal(code, { SIGTERM: 143, SIGHUP: 129 }[signal]);
    },
  );
}
