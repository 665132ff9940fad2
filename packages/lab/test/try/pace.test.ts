import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { resolvePlans } from '../../src/config/resolve-plan.ts';
import type { Plan } from '../../src/config/resolve-plan.ts';
import {
  type GivenTime,
  type Pace,
  paceOf,
  paceSentence,
  type Speed,
  timeLimitMsOf,
} from '../../src/try/pace.ts';

const [plan] = resolvePlans({ name: 'a', variants: [{ name: 'a', command: 'node a' }] }, '/', {});
const usual: Speed = { tookMs: 1, cpuMs: 0.5, startMs: 300 };
const minute: GivenTime = { leftMs: 55_000, isChosen: false, restarts: undefined, coreCount: 2 };

function pace(
  speed: Partial<Speed>,
  given: Partial<Plan> = {},
  time: Partial<GivenTime> = {},
): Pace {
  const asked = { ...plan!, turns: true, ...given };
  return paceOf(asked, { ...usual, ...speed }, { ...minute, ...time });
}

describe('the pace of redline try', () => {
  test('is that of fast responses in turns, within the time that is given', () => {
    const { turns, connections, precision, estimateMs, isLonger } = pace({});
    assert.deepEqual([turns, connections, isLonger], [true, 64, false]);
    assert.equal(precision.latencyMs, 200);
    assert.equal(estimateMs, 55_000);
  });

  test('has few connections, slices with several responses and no turns where a response takes 300 ms of CPU', () => {
    const { turns, connections, precision, estimateMs } = pace({ tookMs: 300, cpuMs: 300 });
    assert.deepEqual([turns, connections], [false, 2]);
    assert.ok(precision.sliceMs >= 2 * 600, `${precision.sliceMs}`);
    assert.ok(precision.latencyMs >= 3 * 300, `${precision.latencyMs}`);
    assert.ok(estimateMs < 150_000, `${estimateMs}`);
  });

  test('keeps its connections where a response only waits, and every slice holds two of them', () => {
    const { turns, connections, precision } = pace({ tookMs: 1_500, cpuMs: 0.3 });
    assert.deepEqual([turns, connections], [false, 64]);
    assert.ok(precision.sliceMs >= 3_000, `${precision.sliceMs}`);
    assert.ok(precision.warmupMs >= 3_000, `${precision.warmupMs}`);
  });

  test('does not change the number of connections that somebody has chosen', () => {
    const chosen = { hasConnections: true, connections: 16 };
    assert.equal(pace({ tookMs: 300, cpuMs: 300 }, chosen).connections, 16);
  });

  test('is said beforehand, with what a response takes where that is why', () => {
    const speed = { tookMs: 300, cpuMs: 300, startMs: 1_234 };
    const sentence = paceSentence({ ...pace(speed), estimateMs: 95_000, isLonger: true }, speed);
    assert.match(
      sentence,
      /^Takes about 1 m 35 s from here: a start takes 1 s and a response 300 ms, so that even 4 rounds .* At twice that it stops/,
    );
    assert.match(
      paceSentence(pace({}), usual),
      /^Takes about 55 s from here: a start takes 300 ms and a response 1\.0 ms\. At twice/,
    );
  });

  test('follows the time that someone has chosen: shorter restarts, then fewer of them, down to one', () => {
    const chosen = (leftMs: number, startMs = 300): Pace =>
      pace({ startMs }, {}, { leftMs, isChosen: true });
    assert.deepEqual([chosen(55_000).precision.blocks, chosen(55_000).passes], [2, 8]);
    assert.deepEqual([chosen(18_000).precision.blocks, chosen(18_000).passes], [1, 4]);
    assert.deepEqual([chosen(18_000).minRestarts, chosen(18_000).estimateMs], [2, 18_000]);
    assert.equal(chosen(18_000).isLonger, false);
    const slow = chosen(18_000, 8_000);
    assert.deepEqual([slow.isLonger, slow.minRestarts], [true, 1]);
    assert.ok(slow.estimateMs > 3 * 8_000 + 2 * 8_000, `${slow.estimateMs}`);
    assert.ok(slow.estimateMs < 60_000, `${slow.estimateMs}`);
  });

  test('without a chosen time it has four restarts, and says how long these take', () => {
    const { minRestarts, estimateMs, isLonger } = pace({ startMs: 8_000 });
    assert.deepEqual([minRestarts, isLonger], [4, true]);
    assert.ok(estimateMs > 4 * 3 * 8_000, `${estimateMs}`);
  });

  test('ends before twice the time that it has announced', () => {
    for (const estimateMs of [1_000, 20_000, 95_000]) {
      assert.ok(timeLimitMsOf({ estimateMs }) > estimateMs, `${estimateMs}`);
      assert.ok(timeLimitMsOf({ estimateMs }) < 2 * estimateMs, `${estimateMs}`);
    }
  });
});
