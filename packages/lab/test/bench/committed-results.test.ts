// The figures of the READMEs come from benchmarks/results. Each interval there can be computed again from the slices in the same file.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { splitGroups } from '../../src/bench/groups.ts';
import type { Pairing } from '../../src/bench/paired-ratio.ts';
import { type BenchResult, isMeasured, type MeasuredVariant } from '../../src/bench/result.ts';
import type { Interval } from '../../src/figures.ts';
import { medianInterval } from '../../src/stats/bootstrap.ts';
import { seededRandom } from '../../src/stats/random.ts';
import type { TryResult } from '../../src/try/result.ts';
import { type Estimator, estimators } from './earlier-estimators.ts';

const results = join(import.meta.dirname, '../../../../benchmarks/results');
const files = globSync('**/*.json', { cwd: results }).toSorted();

/** Those of `redline bench`, `ladder` and `try`. */
const benches = new Map(
  files.flatMap((file) => {
    const result = JSON.parse(readFileSync(join(results, file), 'utf8')) as BenchResult | TryResult;
    const bench = 'bench' in result ? result.bench : result;
    return 'control' in bench && 'slices' in bench ? [[file, bench as BenchResult] as const] : [];
  }),
);

interface Claim {
  name: string;
  said: Interval;
  again: Interval;
}

function claimsOf(part: BenchResult, estimator: Estimator): Claim[] {
  const { control, baseline, floor, slices } = part;
  const both = estimator.withControl && isMeasured(control) ? [baseline, control.name] : [baseline];
  return [control, ...part.variants].filter(isMeasured).flatMap((variant) => {
    const isBase = variant.name === baseline;
    const over = (others: readonly string[]): Pairing => ({ slices, name: variant.name, others });
    const besideBase = over(variant === control ? [baseline] : both);
    const claim = (name: string, said: Interval | undefined, again: () => Interval): Claim[] =>
      said === undefined ? [] : [{ name: `${name} of ${variant.name}`, said, again: again() }];
    return [
      ...(isBase
        ? []
        : [
            ...claim('rps', variant.rpsRatio, () => estimator.rps(besideBase)),
            ...claim('CPU', variant.cpuRatio, () => estimator.cpu(besideBase)),
          ]),
      ...claim('multiple of the floor', variant.floorRatio, () =>
        estimator.cpu({ slices, name: floor!, others: [variant.name] }),
      ),
      ...claim('µs', variant.cpuMicrosInterval, () =>
        scaled(estimator.level(slices, isBase ? both : [variant.name]), variant),
      ),
      // Older files have the interval alone.
      ...claim('p99', variant.latencyMs.p99s?.length ? p99Of(variant) : undefined, () =>
        medianInterval(variant.latencyMs.p99s!, seededRandom(1)),
      ),
      ...stepClaims(variant, (of) => over(of === baseline ? both : [of]), claim, estimator),
    ];
  });
}

function stepClaims(
  { step }: MeasuredVariant,
  over: (name: string) => Pairing,
  claim: (name: string, said: Interval, again: () => Interval) => Claim[],
  estimator: Estimator,
): Claim[] {
  if (step === undefined) return [];
  const pairing = over(step.over);
  return [
    ...claim('step in CPU', step.cpu.ratio, () => estimator.cpu(pairing)),
    ...claim('step in rps', step.rps.ratio, () => estimator.rps(pairing)),
  ];
}

function p99Of({ latencyMs: { p99, p99Low, p99High } }: MeasuredVariant): Interval {
  return { value: p99, low: p99Low, high: p99High };
}

/** The centre is that of the ratio to the baseline. */
function scaled({ value, low, high }: Interval, variant: MeasuredVariant): Interval {
  const micros = variant.cpuMicrosPerRequest;
  return { value: micros, low: (low / value) * micros, high: (high / value) * micros };
}

/** Of the width of an interval whose ends are drawn: another drawing has others. */
const maxDrawnShare = 0.2;

describe('every interval of a benchmark can be computed again from the slices beside it:', () => {
  for (const [file, bench] of benches)
    test(file, () => {
      const estimator = estimators.find(({ until }) => bench.startedAt < until)!;
      const claims = splitGroups(bench).flatMap((part) => claimsOf(part, estimator));
      assert.ok(claims.length > 0);
      for (const { name, said, again } of claims) {
        const text = `${name}: ${JSON.stringify(said)}, and again ${JSON.stringify(again)}`;
        const off = (end: keyof Interval): number => Math.abs(Math.log(said[end] / again[end]));
        assert.ok(off('value') < 1e-9, text);
        const max = Math.max(1e-9, maxDrawnShare * Math.log(said.high / said.low));
        assert.ok(off('low') <= max && off('high') <= max, text);
      }
    });

  test('no result of a benchmark is without them', () => {
    // The others keep the conclusion of each of their runs; the grid of defer has a test of its own, tests/defer-grid.test.ts.
    const withRatios = files.filter((file) =>
      readFileSync(join(results, file), 'utf8').includes('"rpsRatio"'),
    );
    assert.deepEqual(withRatios, [...benches.keys()]);
  });
});
