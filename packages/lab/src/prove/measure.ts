import type { Measurement } from '@redline/eslint-plugin';
import type { Interval, Verdict } from '../figures.ts';
import { estimate, ratioInterval } from '../stats/bootstrap.ts';
import { seededRandom, shuffled } from '../stats/random.ts';
import { isBeyond, judge } from '../stats/verdict.ts';
import type { Runtime } from '../runtimes/cache.ts';
import { Contestant, type Side } from './contestant.ts';
import type { Proof } from './proof.ts';

/** A speed-up of a single operation by less than this is lost in the rest of any program. */
export const minGain = 0.3;

export interface ProvePrecision {
  /** Fresh processes of each side; the bootstrap's upper level. */
  restarts: number;
  /** Times each side is timed per restart, in shuffled order; the lower level. */
  blocks: number;
  blockMs: number;
  warmUpMs: number;
  seed: number;
}

/** One timed block of one side. */
export interface TimedBlock {
  restart: number;
  block: number;
  side: Side;
  nanos: number;
}

export interface Timing extends Pick<
  Measurement,
  'ratio' | 'verdict' | 'beforeNanos' | 'afterNanos'
> {
  slices: TimedBlock[];
}

/**
 * Checks that both sides give equal results, then times them: every restart starts both again, each in its own process, and each
 * block times both in a random order.
 * @throws {LabError} ERR_REDLINE_PROOF
 */
export async function measureProof(
  proof: Proof,
  runtime: Runtime,
  precision: ProvePrecision,
  signal: AbortSignal,
): Promise<Timing> {
  await using judgeOfResults = new Contestant(proof, 'check', runtime, signal);
  await judgeOfResults.check();
  const random = seededRandom(precision.seed);
  const slices: TimedBlock[] = [];
  for (let restart = 1; restart <= precision.restarts; restart++) {
    signal.throwIfAborted();
    await using before = new Contestant(proof, 'before', runtime, signal);
    await using after = new Contestant(proof, 'after', runtime, signal);
    const sides = { before, after };
    const names = Object.keys(sides) as Side[];
    for (const side of shuffled(names, random)) await sides[side].warmUp(precision.warmUpMs);
    for (let block = 1; block <= precision.blocks; block++) {
      for (const side of shuffled(names, random)) {
        signal.throwIfAborted();
        slices.push({ restart, block, side, nanos: await sides[side].block(precision.blockMs) });
      }
    }
  }
  return { ...summarise(slices, precision.seed), slices };
}

function summarise(slices: readonly TimedBlock[], seed: number): Omit<Timing, 'slices'> {
  const byRestart = [...Map.groupBy(slices, ({ restart }) => restart).values()];
  const nanosOf = (side: Side): number[][] =>
    byRestart.map((own) => own.filter((slice) => slice.side === side).map(({ nanos }) => nanos));
  const before = nanosOf('before');
  const after = nanosOf('after');
  const logs = before.map((own, restart) =>
    own.map((nanos, block) => Math.log(nanos / after[restart]![block]!)),
  );
  const ratio = ratioInterval(logs, seededRandom(seed));
  return {
    ratio,
    verdict: judgeGain(ratio),
    beforeNanos: estimate(before),
    afterNanos: estimate(after),
  };
}

/** Judges more strictly than for a server: advice pays only if its whole interval says so. */
function judgeGain(ratio: Interval): Verdict {
  const verdict = judge(ratio, { margin: minGain, band: minGain });
  const isProved = isBeyond(ratio.low, minGain) && isBeyond(ratio.high, minGain);
  return verdict === 'changed' && !isProved ? 'unresolved' : verdict;
}
