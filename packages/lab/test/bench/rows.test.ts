import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { savedMicros, stepsOf } from '../../src/bench/report/rows.ts';
import { benchDocument } from '../../src/bench/report/bench-document.ts';
import { renderTerminal } from '../../src/document/terminal.ts';
import { summarise } from '../../src/bench/summarise.ts';
import type { Observations } from '../../src/bench/observations.ts';
import { resolvePlans } from '../../src/config/resolve-plan.ts';
import { isMeasured, type MeasuredVariant, type Slice } from '../../src/bench/result.ts';
import { fixture } from '../report/fixture.ts';

describe('µs saved', () => {
  const base = fixture().variants[0] as MeasuredVariant;
  const ratio = { value: 2, low: 1.98, high: 2.02 };

  test('are as uncertain as the ratio where the base is known exactly', () => {
    const saved = savedMicros({ ...base, cpuMicrosPerRequest: 100 }, ratio);
    assert.equal(saved.value, 50);
    assert.ok(Math.abs(saved.low - 49.49) < 0.01 && Math.abs(saved.high - 50.5) < 0.01);
  });

  test('carry the uncertainty of the base', () => {
    const cpuMicrosInterval = { value: 100, low: 90, high: 112 };
    const saved = savedMicros({ ...base, cpuMicrosPerRequest: 100, cpuMicrosInterval }, ratio);
    assert.ok(saved.low < 45.1 && saved.low > 44.9, String(saved.low));
    assert.ok(saved.high > 55.9 && saved.high < 56.1, String(saved.high));
  });
});

/** Slices of two restarts, in which each server costs what is said in µs. */
function observed(costs: Record<string, [number, number]>): Observations {
  const slices = Object.entries(costs).flatMap(([variant, micros]) =>
    micros.map((cost, at): Slice => ({
      restart: at + 1,
      block: 1,
      variant,
      requests: 1_000,
      seconds: 1,
      cpuMicros: cost * 1_000,
    })),
  );
  const { machine } = fixture();
  return {
    contestants: [],
    skipped: new Map(),
    slices,
    voidSlices: [],
    latencies: [],
    memory: [],
    generator: { name: 'none', threads: 1, launches: false, run: () => assert.fail() },
    openLoopRps: 1,
    machine,
    throttledTimes: 0,
    disturbedShare: 0,
  };
}

describe('the A/A control', () => {
  const plan = resolvePlans(
    { name: 'test', variants: [{ name: 'a', command: 'node a.js' }] },
    '/',
    {},
  )[0]!;
  const judged = (costs: Record<string, [number, number]>): MeasuredVariant => {
    const { control } = summarise(plan, observed(costs), {
      command: 'bench',
      invocation: '',
      runId: '',
      redlineVersion: '',
      startedAt: new Date(0),
      durationSeconds: 1,
    });
    assert.ok(isMeasured(control));
    return control;
  };

  test('is the same by the margin, and never because the run is noisy', () => {
    assert.equal(judged({ a: [20, 20], 'a again': [20.01, 19.99] }).cpuVerdict, 'same');
    const noisy = judged({ a: [20, 20], 'a again': [10, 40] });
    assert.ok(noisy.cpuRatio.low < 1 && noisy.cpuRatio.high > 1);
    assert.equal(noisy.cpuVerdict, 'unresolved');
  });
});

test('a ladder of two programs on several runtimes pairs each with itself on the runtime before', () => {
  const variants = [1, 2].flatMap((on) => [
    { name: `old on ${on}`, command: 'node a.js', ...(on > 1 && { over: `old on ${on - 1}` }) },
    { name: `new on ${on}`, command: 'node b.js', over: `old on ${on}` },
  ]);
  const [plan] = resolvePlans({ name: 'test', variants }, '/', {});
  const costs: Record<string, [number, number]> = {
    'old on 1': [80, 80],
    'old on 1 again': [80, 80],
    'new on 1': [20, 20],
    'old on 2': [40, 40],
    'new on 2': [10, 10],
  };
  const facts = { command: 'ladder', invocation: '', runId: '', redlineVersion: '' } as const;
  const seen = observed(costs);
  const result = summarise(plan!, seen, { ...facts, startedAt: new Date(0), durationSeconds: 1 });
  const steps = stepsOf(result).map(({ name, over, cpu, fromMicros }) => [
    name,
    over,
    Math.round(cpu.value),
    Math.round(fromMicros),
  ]);
  assert.deepEqual(steps, [
    ['new on 1', 'old on 1', 4, 80],
    ['old on 2', 'old on 1', 2, 80],
    ['new on 2', 'old on 2', 4, 40],
  ]);
  const text = renderTerminal(benchDocument(result), { colour: false, unicode: true, width: 100 });
  assert.match(text, /over the one named/);
  assert.match(text, /old on 2 over old on 1/);
  assert.doesNotMatch(text, /over the rung below/);
  // A variant whose `over` did not run has no step.
  seen.skipped.set('old on 2', 'it did not start');
  const without = summarise(plan!, seen, { ...facts, startedAt: new Date(0), durationSeconds: 1 });
  assert.deepEqual(
    stepsOf(without).map(({ name }) => name),
    ['new on 1'],
  );
});
