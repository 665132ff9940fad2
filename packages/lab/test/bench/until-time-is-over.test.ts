import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Observations } from '../../src/bench/observations.ts';
import type { Slice } from '../../src/bench/result.ts';
import { untilTimeIsOver } from '../../src/bench/restart/until-time-is-over.ts';
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
async function stoppedWith(
  slices: Slice[],
  more: Partial<Plan> = {},
): Promise<{ plan: Plan; seen: Observations }> {
  const plan = { timeLimitMs: 1, precision: { restarts: 4, blocks: 2 }, ...more } as Plan;
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
    const isLast = restart === slices.at(-1)!.restart;
    for (;;) {
      const own = slices.filter((each) => each.restart === restart);
      seen.slices.push(...own.filter((each) => !seen.slices.includes(each)));
      if (!isLast) return;
      await sleep(5, undefined, { signal: until });
    }
  });
  return { plan, seen };
}

describe('a run whose time is over', () => {
  test('keeps the restarts that are complete', async () => {
    const first = [1, 2].flatMap((block) => [slice(1, block, 'a'), slice(1, block, 'b')]);
    const { plan, seen } = await stoppedWith([...first, slice(2, 1, 'a')]);
    assert.deepEqual(seen.slices, first);
    assert.equal(plan.precision.restarts, 1);
    assert.match(
      seen.stopped!,
      /^Stopped after .*, at twice the time that was announced, with 1 of 4 restarts\.$/,
    );
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

  test('says that nothing is known where no block is complete', async () => {
    await assert.rejects(stoppedWith([slice(1, 1, 'a')]), {
      code: 'ERR_REDLINE_LOAD',
      message: /^Stopped after .*: nothing was measured completely by then\. Stop other work/,
    });
  });

  test('waits for the first block where someone has asked for a number of restarts', async () => {
    const seen = [slice(1, 1, 'a')];
    setTimeout(() => seen.push(slice(1, 1, 'b')), 20);
    const { plan, seen: kept } = await stoppedWith(seen, { waitsForFirst: true });
    assert.equal(kept.slices.length, 2);
    assert.deepEqual([plan.precision.restarts, plan.precision.blocks], [1, 1]);
  });
});
