// The journal of a process whose pid namespace is another one, as that of a container is.
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { createDefer } from '../../src/create-defer.ts';
import type { DeferOptions } from '../../src/options.ts';
import { until } from '@redline/services/until';
import { temporaryFolder, TestSink } from '../harness.ts';

const entry = JSON.stringify(join(import.meta.dirname, '../../src/index.ts'));
const unshare = ['--fork', '--pid', '--mount-proc', '--kill-child'];
const skip =
  spawnSync('unshare', [...unshare, 'true']).status === 0
    ? false
    : 'this system lets the test make no pid namespace (unshare)';

const defers = `
  const { createDefer, defineJob } = await import(${entry});
  const deferrer = createDefer({
    sinks: { test: { kind: 'test', async send() { throw new Error('It is away.'); } } },
    journal: { directory: process.env.DIRECTORY },
    logger: false,
  });
  await deferrer.ready();
  await deferrer.defer(defineJob('note'), 'kept', { level: 'disk' }).acknowledged();
  setInterval(() => {}, 1_000);
`;

/** The process itself, not the one that made its namespace. */
interface Contained {
  readonly pid: number;
  kill(): Promise<void>;
}

async function contained(t: TestContext, directory: string, code: string): Promise<Contained> {
  const program = join(temporaryFolder(t), 'program.mjs');
  writeFileSync(program, code);
  const node = [process.execPath, '--no-warnings', program];
  const outer: ChildProcess = spawn('unshare', [...unshare, ...node], {
    env: { ...process.env, DIRECTORY: directory },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => outer.kill('SIGKILL'));
  outer.once('exit', () => outer.stdout!.emit('error', new Error('It ended by itself.')));
  const [said] = (await once(outer.stdout!, 'data')) as [Buffer];
  outer.removeAllListeners('exit');
  assert.equal(String(said), 'kept\n');
  const listed = readFileSync(`/proc/${outer.pid}/task/${outer.pid}/children`, 'utf8');
  const pid = Number(listed.trim());
  // 0 would be this process's own group.
  assert.ok(pid > 0, listed);
  return {
    pid,
    async kill() {
      // Its number is in use until `outer` has waited for it, which then ends.
      if (outer.exitCode !== null || outer.signalCode !== null) return;
      const exited = once(outer, 'exit');
      process.kill(pid, 'SIGKILL');
      await exited;
    },
  };
}

const alone = `${defers}
  console.log('kept');`;

/** A worker of node:cluster ends by SIGKILL, and its primary lives on. */
const clustered = `
  import cluster from 'node:cluster';
  if (cluster.isPrimary) {
    const worker = cluster.fork();
    worker.on('message', () => worker.process.kill('SIGKILL'));
    worker.on('exit', () => console.log('kept'));
  } else {
    ${defers}
    process.send('kept');
  }`;

interface Next {
  readonly sink: TestSink;
  /** An hour later, all folders are looked at again. */
  later(): Promise<void>;
}

async function next(t: TestContext, directory: string): Promise<Next> {
  const sink = new TestSink();
  let laterMs = 0;
  let scans = 0;
  const clock: DeferOptions['clock'] = {
    now: () => performance.now() + laterMs,
    wall: () => Date.now(),
    after(ms, callback) {
      const timer = setTimeout(() => {
        if (ms === 21) scans++;
        callback();
      }, ms);
      return { cancel: () => clearTimeout(timer) };
    },
  };
  const deferrer = createDefer({
    sinks: { test: sink },
    // 21: a time of its own among those of the clock.
    journal: { directory, strangerTimeoutMs: 1_800_000, adoptEveryMs: 21 },
    logger: false,
    handleSignals: false,
    clock,
  });
  t.after(() => deferrer.close());
  await deferrer.ready();
  return {
    sink,
    async later() {
      laterMs += 3_600_000;
      const before = scans;
      await until('another two scans', () => scans >= before + 2);
    },
  };
}

const sockets = (directory: string): string[] =>
  readdirSync(directory).filter((name) => name.endsWith('.alive'));

describe('the journal of a container', { skip }, () => {
  for (const [name, code] of Object.entries({ alone, clustered })) {
    test(`is taken over as soon as it was killed (${name}), and its socket removed`, async (t) => {
      const directory = temporaryFolder(t);
      const owner = await contained(t, directory, code);
      if (name === 'alone') await owner.kill();
      const { sink } = await next(t, directory);
      await until('the job', () => sink.data.length > 0);
      assert.deepEqual(sink.data, ['kept']);
      await until('its own socket alone', () => sockets(directory).length === 1);
    });
  }

  test('is its own while it stands still, however long', async (t) => {
    const directory = temporaryFolder(t);
    const owner = await contained(t, directory, alone);
    process.kill(owner.pid, 'SIGSTOP');
    const { sink, later } = await next(t, directory);
    for (let hours = 0; hours < 3; hours++) await later();
    assert.deepEqual(sink.data, []);
    await owner.kill();
    await until('the job', () => sink.data.length > 0);
  });

  test('is taken over for want of a sign of life where it has no socket', async (t) => {
    const directory = temporaryFolder(t);
    const owner = await contained(t, directory, alone);
    process.kill(owner.pid, 'SIGSTOP');
    for (const name of sockets(directory)) rmSync(join(directory, name));
    const { sink, later } = await next(t, directory);
    assert.deepEqual(sink.data, []);
    for (let hours = 0; hours < 3; hours++) await later();
    await until('the job', () => sink.data.length > 0);
  });

  test('has its socket below a path longer than an address of a socket may be', async (t) => {
    const directory = join(temporaryFolder(t), 'x'.repeat(100), 'y'.repeat(100));
    mkdirSync(directory, { recursive: true });
    const owner = await contained(t, directory, alone);
    assert.equal(sockets(directory).length, 1);
    await owner.kill();
    const { sink } = await next(t, directory);
    await until('the job', () => sink.data.length > 0);
  });
});

test('an orderly end leaves no socket, and a thread has its own', async (t) => {
  const directory = temporaryFolder(t);
  const open = (): ReturnType<typeof createDefer> =>
    createDefer({ sinks: {}, journal: { directory }, logger: false, handleSignals: false });
  const one = open();
  const other = open();
  await Promise.all([one.ready(), other.ready()]);
  if (process.platform === 'linux') assert.equal(sockets(directory).length, 2);
  await one.close();
  await other.close();
  assert.deepEqual(sockets(directory), []);
});
