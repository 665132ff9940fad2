import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Canary } from '../../dist/servers/canary.js';
import { Undisturbed } from '../../src/servers/undisturbed.ts';

const { signal } = new AbortController();

/** What the canary reads, one after the other; the last goes on. */
function readings(...given: number[]): () => Promise<number> {
  return async () => (given.length > 1 ? given.shift()! : given[0]!);
}

const calibration = Array.from({ length: 30 }, () => 100);

test('measures once where the core is left alone', async () => {
  const undisturbed = new Undisturbed(readings(100), signal);
  let times = 0;
  assert.equal(await undisturbed.measure(async () => ++times), 1);
  assert.equal(undisturbed.lostShare, 0);
});

test('waits for the core to be left alone', async () => {
  const undisturbed = new Undisturbed(readings(...calibration, 150, 150, 100), signal);
  let times = 0;
  assert.equal(await undisturbed.measure(async () => ++times), 1);
  assert.ok(undisturbed.lostShare > 0);
});

test('measures again what was disturbed before it ended', async () => {
  const undisturbed = new Undisturbed(readings(...calibration, 100, 150, 100), signal);
  let times = 0;
  assert.equal(await undisturbed.measure(async () => ++times), 2);
});

test('keeps what it gets once it has waited long enough', async () => {
  const slow = Array.from({ length: 2_000 }, () => 150);
  const undisturbed = new Undisturbed(readings(...calibration, ...slow), signal);
  assert.equal(await undisturbed.measure(async () => 'kept'), 'kept');
});

test('takes a core that is always slow for what it is', async () => {
  const undisturbed = new Undisturbed(readings(150), signal);
  let times = 0;
  assert.equal(await undisturbed.measure(async () => ++times), 1);
});

test('an abort ends the wait', async () => {
  const abort = new AbortController();
  const undisturbed = new Undisturbed(readings(...calibration, 150), abort.signal);
  const waiting = undisturbed.measure(async () => 'never');
  abort.abort(new Error('Ctrl-C'));
  await assert.rejects(waiting, /Ctrl-C/);
});

test('what it reads is time, and its end is an error', async () => {
  const canary = await Canary.start([]);
  assert.ok((await canary.read()) > 0);
  await canary[Symbol.asyncDispose]();
  await assert.rejects(canary.read(), { code: 'ERR_REDLINE_LOAD' });
});

test(
  'it is gone when it has been disposed of',
  { skip: process.platform !== 'linux' },
  async () => {
    const canary = await Canary.start([]);
    assert.equal(canaries().length, 1);
    await canary[Symbol.asyncDispose]();
    assert.deepEqual(canaries(), []);
  },
);

/** Those that this process started; also one that is dead, and that nobody has asked about. */
function canaries(): string[] {
  const file = `/proc/self/task/${process.pid}/children`;
  const children = readFileSync(file, 'utf8').trim().split(' ').filter(Boolean);
  return children.filter((pid) =>
    /canary-process/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8')),
  );
}
