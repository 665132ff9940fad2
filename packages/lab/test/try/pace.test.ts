import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { resolvePlans } from '../../src/config/resolve-plan.ts';
import type { Plan } from '../../src/config/resolve-plan.ts';
import { type Pace, paceOf, paceSentence, type Speed } from '../../src/try/pace.ts';

const [plan] = resolvePlans({ name: 'a', variants: [{ name: 'a', command: 'node a' }] }, '/', {});
const usual: Speed = { tookMs: 1, cpuMs: 0.5, startMs: 300, coreCount: 2 };

function pace(speed: Partial<Speed>, given: Partial<Plan> = {}, leftMs = 55_000): Pace {
  const asked = { ...plan!, turns: true, ...given };
  return paceOf(asked, { ...usual, ...speed }, { leftMs, restarts: undefined });
}

describe('the pace of redline try', () => {
  test('is that of fast responses in turns, within the time that is given', () => {
    const { turns, connections, precision, estimateMs, isSlow } = pace({});
    assert.deepEqual([turns, connections, isSlow], [true, 64, false]);
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
    const speed = { tookMs: 300, cpuMs: 300 };
    const sentence = paceSentence({ ...pace(speed), estimateMs: 95_000 }, speed);
    assert.match(sentence, /^Measures for about 1 m 35 s, because a response takes 300 ms; after/);
    assert.match(paceSentence(pace({}), usual), /^Measures for about 55 s; after twice that/);
  });
});
