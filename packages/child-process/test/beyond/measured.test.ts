import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { describe, test } from 'node:test';
import {
  engine,
  exec,
  execFile,
  execFileSync,
  fork,
  spawn,
  spawnSync,
  type ChildResourceUsage,
  type EndMessage,
  type QueueMessage,
  type StartMessage,
  type UsageMessage,
} from '../../src/index.ts';

const skip = engine().name === 'native' ? false : 'the native engine does not serve here';
const resourceUsage = true;
/** Uses some 50 ms of CPU and, with a block, 200 MB. */
const busy = 'const end = process.cpuUsage().user + 5e4; while (process.cpuUsage().user < end);';
const large = 'Buffer.alloc(300e6, 1);';

function assertUsage(usage: ChildResourceUsage | undefined): void {
  assert.ok(usage);
  assert.ok(usage.userCPUTime >= 40_000, JSON.stringify(usage));
  assert.ok(usage.systemCPUTime >= 0);
  assert.ok(usage.voluntaryContextSwitches >= 1);
  assert.ok(usage.involuntaryContextSwitches >= 0);
}

describe('resourceUsage', { skip, timeout: 600_000 }, () => {
  test('is on the child from "exit" on', async () => {
    const child = spawn(process.execPath, ['-e', busy], { resourceUsage });
    assert.equal(child.resourceUsage, undefined);
    await once(child, 'exit');
    assertUsage(child.resourceUsage);
  });

  test('is in the results of exec and execFile, and on their errors', async () => {
    const args = ['-e', busy];
    const result = await promisify(execFile)(process.execPath, args, { resourceUsage });
    assertUsage((result as unknown as { resourceUsage: ChildResourceUsage }).resourceUsage);
    const failing = `'${process.execPath}' -e '${busy} process.exit(3)'`;
    const error = await promisify(exec)(failing, { resourceUsage }).then(
      () => assert.fail('it ends with 3'),
      (reason) => reason,
    );
    assert.equal(error.code, 3);
    assertUsage(error.resourceUsage);
  });

  test('is in the results of the Sync functions, and of fork', async () => {
    assertUsage(spawnSync(process.execPath, ['-e', busy], { resourceUsage }).resourceUsage);
    try {
      execFileSync(process.execPath, ['-e', `${busy} process.exit(3)`], { resourceUsage });
      assert.fail('it ends with 3');
    } catch (error) {
      assertUsage((error as { resourceUsage: ChildResourceUsage }).resourceUsage);
    }
    const child = fork('-e', [busy], { execArgv: [], resourceUsage });
    await once(child, 'close');
    assertUsage(child.resourceUsage);
  });

  test('has a peak that is above our own, and none that is hidden by it', async () => {
    const small = spawn('true', { resourceUsage });
    await once(small, 'exit');
    assert.equal(small.resourceUsage!.maxRSS, undefined);
    // A parent that is certainly smaller than the child.
    const entry = new URL('../../src/index.ts', import.meta.url).href;
    const program = `
      import { spawnSync } from ${JSON.stringify(entry)};
      const { resourceUsage } = spawnSync(process.execPath, ['-e', ${JSON.stringify(large)}], { resourceUsage: true });
      console.log(JSON.stringify(resourceUsage));`;
    const args = ['--no-warnings', '--input-type=module', '-e', program];
    const usage = JSON.parse((await promisify(execFile)(process.execPath, args)).stdout);
    assert.ok(usage.maxRSS >= 290_000 && usage.maxRSS < 2_000_000, JSON.stringify(usage));
  });

  test('is not there without the option', async () => {
    const child = spawn('true');
    await once(child, 'close');
    assert.ok(!('resourceUsage' in child));
    assert.ok(!('resourceUsage' in spawnSync('true')));
    assert.ok(!('resourceUsage' in (await promisify(execFile)('true'))));
    const code = 'ERR_REDLINE_CHILD_PROCESS_OPTION';
    const wrong = { resourceUsage: 'all' } as never;
    assert.throws(() => spawn('true', wrong), { code, message: /resourceUsage .*; got "all"/ });
    assert.throws(() => spawnSync('true', wrong), { code });
  });
});

/** What came over a channel while `act` ran. */
async function watched<T>(name: string, act: () => Promise<unknown>): Promise<T[]> {
  const messages: T[] = [];
  const onMessage = (message: unknown): void => void messages.push(message as T);
  subscribe(`redline:child-process:${name}`, onMessage);
  try {
    await act();
  } finally {
    unsubscribe(`redline:child-process:${name}`, onMessage);
  }
  return messages;
}

describe('the channels', { skip, timeout: 600_000 }, () => {
  test('tell when a child was queued, started and over, in the time of performance.now()', async () => {
    const before = performance.now();
    let queued: QueueMessage[] = [];
    let started: StartMessage[] = [];
    const ended = await watched<EndMessage>('end', async () => {
      queued = await watched('queue', async () => {
        started = await watched('start', async () => {
          const children = Array.from({ length: 5 }, () => spawn('true'));
          await Promise.all(children.map((child) => once(child, 'close')));
        });
      });
    });
    const after = performance.now();
    assert.deepEqual([queued.length, started.length, ended.length], [5, 5, 5]);
    for (const { process, queuedAt, takenAt, startedAt, endedAt, resourceUsage: usage } of ended) {
      assert.equal(process.exitCode, 0);
      assert.ok(usage);
      const times = [before, queuedAt, takenAt!, startedAt!, endedAt!, after];
      // The two clocks are read one after the other.
      for (let i = 1; i < times.length; i++)
        assert.ok(times[i]! >= times[i - 1]! - 1, times.join());
      const start = started.find((message) => message.process === process)!;
      assert.equal(start.endedAt, undefined);
      assert.ok(Math.abs(start.startedAt! - startedAt!) < 1);
      assert.ok(queued.some((message) => message.process === process));
      assert.ok(!('resourceUsage' in process));
    }
  });

  test('tell of a program that could not be started', async () => {
    const ended = await watched<EndMessage>('end', async () => {
      const child = spawn('no-such-program');
      await once(child, 'error');
    });
    assert.equal(ended.length, 1);
    assert.deepEqual([ended[0]!.startedAt, ended[0]!.resourceUsage], [undefined, undefined]);
  });

  test('have a histogram of each program', async () => {
    const messages = await watched<UsageMessage>('usage', async () => {
      for (let i = 0; i < 3; i++) await once(spawn(process.execPath, ['-e', busy]), 'close');
      await once(spawn('true'), 'close');
      spawnSync('true');
    });
    const programs = messages.map(({ program }) => program);
    assert.deepEqual(programs, [...Array<string>(3).fill(process.execPath), 'true', 'true']);
    // One histogram for all messages of a program.
    const counts = messages.map(({ histograms }) => histograms.userCPUTime.count);
    assert.deepEqual(counts, [3, 3, 3, 2, 2]);
    assert.ok(messages[2]!.histograms.userCPUTime.percentile(50) >= 40_000);
    assert.equal(messages[4]!.process, undefined);
  });
});
