import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SteadyCore } from '../../src/servers/steady-core.ts';
import { MeasuredRounds } from '../../src/stairs/measured-rounds.ts';
import type { CutSlice } from '../../src/stairs/preload/protocol.ts';
import type { Session } from '../../src/stairs/session.ts';

const { signal } = new AbortController();
const shape = { guardMs: 10, countedMs: 90 };
const calibration = Array.from({ length: 30 }, () => 100);

/** Takes every slice it is asked for, and remembers which. */
class FakeSession {
  readonly taken: number[] = [];

  async rotate(
    rounds: number[][],
    _shape: unknown,
    onRound: (message: { slices: CutSlice[] }) => void,
  ): Promise<void> {
    for (const cut of rounds.flat()) {
      this.taken.push(cut);
      const figures = { requests: 100, stubs: 0, failures: 0, threadMicros: 1, cpuMicros: 1 };
      onRound({ slices: [{ round: 0, cut, seconds: 0.09, ...figures }] });
      await Promise.resolve();
    }
  }
}

function measuring(readings: readonly number[]): {
  session: FakeSession;
  steadyCore: SteadyCore;
  rounds: MeasuredRounds;
} {
  const given = [...calibration, ...readings];
  const read = async (): Promise<number> => given.shift() ?? 100;
  const session = new FakeSession();
  const steadyCore = new SteadyCore(read, signal);
  return {
    session,
    steadyCore,
    rounds: new MeasuredRounds(session as unknown as Session, shape, steadyCore),
  };
}

describe('rounds of slices', () => {
  test('keep what lies between two good readings, once each, under the number of the round', async () => {
    const { session, steadyCore, rounds } = measuring([]);
    const slices = await rounds.measure([3, 1, 2], 7);
    assert.deepEqual(session.taken, [3, 1, 2]);
    assert.deepEqual(
      slices.map(({ cut, round }) => [cut, round]),
      [
        [3, 7],
        [1, 7],
        [2, 7],
      ],
    );
    assert.equal(steadyCore.lostShare, 0);
  });

  test('measure again what a neighbour of the core slowed down, before or after', async () => {
    // Before the first, and after each: the second slice ends disturbed, so the third begins so.
    const { session, steadyCore, rounds } = measuring([100, 100, 150, 100]);
    const slices = await rounds.measure([1, 2, 3], 0);
    assert.deepEqual(session.taken, [1, 2, 3, 2, 3]);
    assert.deepEqual(
      slices.map(({ cut }) => cut),
      [1, 2, 3],
    );
    assert.equal(Math.round(rounds.lostMs), 200);
    assert.ok(steadyCore.lostShare > 0.3 && steadyCore.lostShare < 0.5);
  });

  test('keep what they get once too much was lost', async () => {
    const { session, steadyCore, rounds } = measuring(Array.from({ length: 1_000 }, () => 150));
    const slices = await rounds.measure([1, 2], 0);
    assert.equal(slices.length, 2);
    assert.ok(session.taken.length > 10 && session.taken.length < 60, String(session.taken.length));
    assert.ok(steadyCore.lostShare > 0.3);
  });

  test('keep every slice where nothing watches the core', async () => {
    const session = new FakeSession();
    const rounds = new MeasuredRounds(session as unknown as Session, shape, undefined);
    assert.equal((await rounds.measure([1, 2], 0)).length, 2);
  });
});
