import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CoreSpeedProbe } from '../../dist/servers/core-speed-probe.js';
import { SteadyCore } from '../../src/servers/steady-core.ts';

const { signal } = new AbortController();

/** Readings of the probe in order; the last one repeats. */
function readings(...given: number[]): () => Promise<number> {
  return async () => (given.length > 1 ? given.shift()! : given[0]!);
}

const calibration = Array.from({ length: 30 }, () => 100);

test('measures once where the core is left alone', async () => {
  const steadyCore = new SteadyCore(readings(100), signal);
  let times = 0;
  assert.equal(await steadyCore.measure(async () => ++times), 1);
  assert.equal(steadyCore.lostShare, 0);
});

test('waits for the core to be left alone', async () => {
  const steadyCore = new SteadyCore(readings(...calibration, 150, 150, 100), signal);
  let times = 0;
  assert.equal(await steadyCore.measure(async () => ++times), 1);
  assert.ok(steadyCore.lostShare > 0);
});

test('measures again what was disturbed before it ended', async () => {
  const steadyCore = new SteadyCore(readings(...calibration, 100, 150, 100), signal);
  let times = 0;
  assert.equal(await steadyCore.measure(async () => ++times), 2);
});

test('keeps what it gets once it has waited long enough', async () => {
  const slow = Array.from({ length: 2_000 }, () => 150);
  const steadyCore = new SteadyCore(readings(...calibration, ...slow), signal);
  assert.equal(await steadyCore.measure(async () => 'kept'), 'kept');
});

test('takes a core that is always slow for what it is', async () => {
  const steadyCore = new SteadyCore(readings(150), signal);
  let times = 0;
  assert.equal(await steadyCore.measure(async () => ++times), 1);
});

test('an abort ends the wait', async () => {
  const abort = new AbortController();
  const steadyCore = new SteadyCore(readings(...calibration, 150), abort.signal);
  const waiting = steadyCore.measure(async () => 'never');
  abort.abort(new Error('Ctrl-C'));
  await assert.rejects(waiting, /Ctrl-C/);
});

test('what it reads is time, and its end is an error', async () => {
  const probe = await CoreSpeedProbe.start([]);
  assert.ok((await probe.read()) > 0);
  await probe[Symbol.asyncDispose]();
  await assert.rejects(probe.read(), { code: 'ERR_REDLINE_LOAD' });
});

test(
  'it is gone when it has been disposed of',
  { skip: process.platform !== 'linux' },
  async () => {
    const probe = await CoreSpeedProbe.start([]);
    assert.equal(probeProcesses().length, 1);
    await probe[Symbol.asyncDispose]();
    assert.deepEqual(probeProcesses(), []);
  },
);

/** Those that this process started; also one that is dead, and that nobody has asked about. */
function probeProcesses(): string[] {
  const file = `/proc/self/task/${process.pid}/children`;
  const children = readFileSync(file, 'utf8').trim().split(' ').filter(Boolean);
  return children.filter((pid) =>
    /core-speed-process/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8')),
  );
}
