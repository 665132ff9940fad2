import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DeadlineQueue, type PendingCall } from '../src/outages/deadline-queue.ts';
import { clocksOf, timersOf } from './clock.ts';
import { until } from '@redline/services/until';

// The queue's own timer does not keep the process up.
const alive = setInterval(() => {}, 1_000);
after(() => clearInterval(alive));

function makeCall(givenUp: string[], key: string): PendingCall {
  const giveUp = (): void => void givenUp.push(key);
  return {
    key,
    issuedAt: performance.now(),
    isSettled: false,
    wasExtended: false,
    next: undefined,
    giveUp,
  };
}

function blockFor(durationMs: number): void {
  const end = performance.now() + durationMs;
  while (performance.now() < end);
}

describe('DeadlineQueue', () => {
  it('gives up what is overdue, in order, and nothing that was settled', async () => {
    const givenUp: string[] = [];
    const queue = new DeadlineQueue(30, () => queue.drain());
    const calls = ['a', 'b', 'c', 'd'].map((key) => makeCall(givenUp, key));
    calls.forEach((call) => queue.add(call));
    queue.settle(calls[2]!);
    queue.settle(calls[0]!);
    await until('both that are overdue', () => givenUp.length >= 2);
    assert.deepEqual(givenUp, ['b', 'd']);
  });

  it('names the first call that is overdue', async () => {
    const overdue: string[] = [];
    const queue = new DeadlineQueue(30, (call) => {
      overdue.push(call.key);
      queue.drain();
    });
    const [first, second] = [makeCall([], 'first'), makeCall([], 'second')];
    queue.add(first);
    queue.add(second);
    queue.settle(first);
    await until('what is overdue', () => overdue.length > 0);
    assert.deepEqual(overdue, ['second']);
  });

  it('starts one timer for any number of calls', (t) => {
    const timers = t.mock.method(globalThis, 'setTimeout');
    const queue = new DeadlineQueue(1_000, () => {});
    const calls = Array.from({ length: 1_000 }, (_, index) => makeCall([], String(index)));
    for (const call of calls) queue.add(call);
    for (const call of calls) queue.settle(call);
    assert.equal(timers.mock.callCount(), 1);
  });

  it('watches again after a time without calls', (t) => {
    const pass = timersOf(t, clocksOf(t));
    const givenUp: string[] = [];
    const queue = new DeadlineQueue(20, () => queue.drain());
    const first = makeCall(givenUp, 'first');
    queue.add(first);
    queue.settle(first);
    pass(80);
    queue.add(makeCall(givenUp, 'second'));
    pass(21);
    pass(1);
    assert.deepEqual(givenUp, ['second']);
  });

  it('does not take a stall of its own event loop for a silent store', (t) => {
    const clock = clocksOf(t);
    const pass = timersOf(t, clock);
    const givenUp: string[] = [];
    const queue = new DeadlineQueue(400, () => queue.drain());
    const call = makeCall(givenUp, 'a');
    const silent = makeCall(givenUp, 'b');
    queue.add(call);
    queue.add(silent);
    // The timer runs this late, and the response needs several turns of the loop after the stall.
    clock.advance(900);
    pass(401);
    queue.settle(call);
    assert.deepEqual(givenUp, []);
    pass(401);
    pass(1);
    assert.deepEqual(givenUp, ['b']);
  });

  it('finds a silent store out though the event loop stalls all the time', async () => {
    const givenUp: string[] = [];
    const queue = new DeadlineQueue(20, () => queue.drain());
    queue.add(makeCall(givenUp, 'a'));
    for (let i = 0; i < 20 && givenUp.length === 0; i++) {
      blockFor(60);
      await sleep(1);
    }
    assert.deepEqual(givenUp, ['a']);
  });
});
