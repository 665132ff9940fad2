import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { resolvePlans } from '../../src/config/resolve-plan.ts';
import { canTakeTurns } from '../../src/system/load-tools.ts';
import type { RedlineConfig } from '../../src/config/types.ts';

const config: RedlineConfig = { name: 'test', variants: [{ name: 'a', command: 'node a.js' }] };

describe('precision', () => {
  const precisionOf = (more: Partial<RedlineConfig>, overrides = {}) =>
    resolvePlans({ ...config, ...more }, '/', overrides)[0]!.precision;

  test('is few starts of many blocks, and in turns many starts of few', () => {
    const { restarts, blocks } = precisionOf({ load: { turns: false } });
    assert.deepEqual([restarts, blocks], [5, 10]);
    const inTurns = precisionOf({ load: { turns: true } });
    assert.deepEqual([inTurns.restarts, inTurns.blocks], [14, 3]);
  });

  test('is for turns wherever they can be taken', () => {
    const { turns } = resolvePlans(config, '/', {})[0]!;
    assert.equal(turns, canTakeTurns());
    const unpinned = resolvePlans({ ...config, load: { pin: false } }, '/', {})[0]!;
    assert.equal(unpinned.turns, false);
  });

  test('is what the config says, then --quick, then the command line', () => {
    const more = { load: { turns: true }, precision: { restarts: 9, blocks: 4 } };
    assert.equal(precisionOf(more).restarts, 9);
    const quick = precisionOf(more, { quick: true });
    assert.deepEqual([quick.restarts, quick.blocks], [4, 2]);
    assert.equal(precisionOf({}, { quick: true }).restarts, 4);
    assert.equal(precisionOf(more, { quick: true, restarts: 7 }).restarts, 7);
    assert.equal(precisionOf({ precision: { warmupMs: 500 } }, { warmup: 0.2 }).warmupMs, 200);
  });

  test('is bounded by a time, unless the command line says how many restarts', () => {
    const more = { precision: { restarts: 9, minutes: 5, warmupRequests: 1_000 } };
    assert.equal(precisionOf(more).minutes, 5);
    assert.equal(precisionOf(more, { quick: true }).minutes, 5);
    const { minutes, restarts, warmupRequests } = precisionOf(more, { restarts: 7 });
    assert.deepEqual([minutes, restarts, warmupRequests], [undefined, 7, 1_000]);
  });
});
