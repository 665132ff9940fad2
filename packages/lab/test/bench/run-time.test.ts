import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { announcement, estimateRun, QuickTime, choosePlans } from '../../src/bench/run-time.ts';
import type { RedlineConfig } from '../../src/config/types.ts';

/** Each group has one server and its control, for which a restart is estimated to take 3 s on two cores. */
function configOf(groups: string[], more: Partial<RedlineConfig> = {}): RedlineConfig {
  return {
    name: 'test',
    load: { turns: false },
    precision: { restarts: 4, blocks: 2, sliceMs: 150, warmupMs: 500, latencyMs: 50 },
    quick: { restarts: 4 },
    variants: groups.map((group) => ({ name: `server/${group}`, group, command: 'node a.js' })),
    ...more,
  };
}

const quickPlans = (config: RedlineConfig) => choosePlans(config, '/', { quick: true });
const tens = (count: number): string[] => Array.from({ length: count }, (_, at) => `g${at}`);

describe('the time of a run', () => {
  test('is estimated from the settings, and grows with them', () => {
    const { seconds, servers } = estimateRun(configOf(['a']), { cores: 2 });
    assert.equal(servers, 2);
    assert.ok(Math.abs(seconds - 4 * 4.3) < 1, String(seconds));
    assert.equal(estimateRun(configOf(['a', 'b']), { cores: 2 }).seconds, 2 * seconds);
    const twice = { precision: { ...configOf([]).precision, restarts: 8 } };
    assert.equal(estimateRun(configOf(['a'], twice), { cores: 2 }).seconds, 2 * seconds);
  });

  test('is less than three minutes with --quick, as long as each group can be started once', () => {
    const many = configOf(tens(30));
    assert.ok(estimateRun(many, { cores: 2 }).seconds > 500);
    assert.equal(estimateRun(many, { quick: true, cores: 2 }).seconds, 165);
    assert.ok(estimateRun(configOf(tens(60)), { quick: true, cores: 2 }).seconds > 165);
    // The user's restarts count, however long they take.
    const { plans } = choosePlans(many, '/', { quick: true, restarts: 4 });
    assert.equal(plans[0]!.isQuick, undefined);
  });

  test('of --quick is shared among the groups that are left', () => {
    let now = 1_000_000;
    const { plans } = quickPlans(configOf(['a', 'b', 'c']));
    const time = new QuickTime(2, () => now);
    const first = time.bound(plans);
    assert.deepEqual(first, { until: now + 55_000, minRestarts: 1 });
    // It took longer than its share.
    now += 85_000;
    assert.equal(time.bound(plans.slice(1)).until, now + 40_000);
    now += 200_000;
    assert.equal(time.bound(plans.slice(2)).until, now);
  });
});

describe('the announcement of a run', () => {
  test('names what is measured, and what --quick leaves out', () => {
    const config = configOf(['a', 'b', 'c']);
    assert.equal(
      announcement(choosePlans(config, '/', {}), 2),
      '3 groups, 6 servers, 4 restarts; about 52 s',
    );
    config.variants[1]!.quick = false;
    assert.equal(
      announcement(quickPlans(config), 2),
      '2 of 3 groups, 4 servers, up to 4 restarts; about 34 s. --quick leaves out b',
    );
    const named = choosePlans(config, '/', { quick: true, only: ['server/b'] });
    assert.match(announcement(named, 2), /^1 group, 2 servers, up to 4 restarts; about \d+ s$/);
  });

  test('says that a set-up comes before it', () => {
    const [only] = configOf(['a']).variants;
    const config = configOf([], { variants: [{ name: 'a', command: only!.command }] });
    const plans = choosePlans({ ...config, setup: () => ({}) }, '/', {});
    assert.match(announcement(plans, 2), /^2 servers, 4 restarts; about \d+ s after the set-up$/);
  });
});
