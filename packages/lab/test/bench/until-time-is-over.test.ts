import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import type { Observations } from '../../src/bench/observations.ts';
import type { Slice } from '../../src/bench/result.ts';
import { untilTimeIsOver } from '../../src/bench/until-time-is-over.ts';
import type { Plan } from '../../src/config/resolve-plan.ts';

const slice = (restart: number, block: number, variant: string): Slice => ({
  restart,
  block,
  variant,
  requests: 1,
  seconds: 1,
  cpuMicros: 1,
});

/** What is left of a run whose time is over once these slices are there. */
async function stoppedWith(slices: Slice[]): Promise<{ plan: Plan; seen: Observations }> {
  const plan = { mostMs: 1, precision: { restarts: 4, blocks: 2 } } as Plan;
  const seen = {
    contestants: [{ name: 'a' }, { name: 'b' }],
    skipped: new Map<string, string>(),
    slices: [] as Slice[],
    voidSlices: [],
    latencies: [{ restart: 1, variant: 'a' }],
    memory: [],
  } as unknown as Observations;
  const { signal } = new AbortController();
  await untilTimeIsOver({ plan, observations: seen, signal }, async (restart, until) => {
    seen.slices.push(...slices.filter((each) => each.restart === restart));
    if (restart < slices.at(-1)!.restart) return;
    // The time of a signal does not keep a process.
    const stay = setInterval(() => {}, 1_000);
    if (!until.aborted) await once(until, 'abort');
    clearInterval(stay);
    until.throwIfAborted();
  });
  return { plan, seen };
}

describe('a run whose time is over', () => {
  test('keeps the restarts that are complete', async () => {
    const first = [1, 2].flatMap((block) => [slice(1, block, 'a'), slice(1, block, 'b')]);
    const { plan, seen } = await stoppedWith([...first, slice(2, 1, 'a')]);
    assert.deepEqual(seen.slices, first);
    assert.equal(plan.precision.restarts, 1);
    assert.match(seen.stopped!, /^Stopped after .*, twice the time .* with 1 of 4 restarts\.$/);
  });

  test('keeps the blocks of the first restart that every server has', async () => {
    const { plan, seen } = await stoppedWith([
      slice(1, 1, 'a'),
      slice(1, 1, 'b'),
      slice(1, 2, 'a'),
    ]);
    assert.deepEqual(seen.slices, [slice(1, 1, 'a'), slice(1, 1, 'b')]);
    assert.deepEqual([plan.precision.restarts, plan.precision.blocks], [1, 1]);
    assert.match(seen.stopped!, /with 1 block of the first restart/);
  });

  test('is an error with what to do where nothing can be compared', async () => {
    await assert.rejects(stoppedWith([slice(1, 1, 'a')]), {
      code: 'ERR_REDLINE_LOAD',
      message: /before one block of its first restart was complete.*--seconds/,
    });
  });
});
