import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { limitOf, limitSentences } from '../../src/bench/limit.ts';
import type { LimitVerdict } from '../../src/bench/result.ts';
import { fixture, interval } from '../report/fixture.ts';

/** A variant that takes this much more CPU, known to `spread`; the control known to `noise`, around `centre`. */
function limit(
  more: number,
  { spread = 0.005, noise = 0.01, centre = 1, share = 0.03 } = {},
): ReturnType<typeof limitOf> {
  const control = { cpuRatio: interval(centre, noise) };
  const rungs = [{ name: 'base' }, { name: 'present', cpu: 1 / (1 + more), spread }];
  return limitOf(fixture({ command: 'bench', rungs, control }), share);
}

describe('--fail-if-slower', () => {
  const cases: [what: string, limit: ReturnType<typeof limitOf>, word: LimitVerdict][] = [
    ['a slowdown whose interval lies beyond the limit', limit(0.05), 'slower'],
    ['one whose interval touches it', limit(0.05, { spread: 0.03 }), 'undecided'],
    ['one within the noise of the run', limit(0.05, { noise: 0.08 }), 'undecided'],
    ['a large one in the same noise', limit(0.5, { noise: 0.08 }), 'slower'],
    ['one below what the base differs from itself by', limit(0.09, { centre: 1.1 }), 'undecided'],
    ['one far above that', limit(0.5, { centre: 1.1 }), 'slower'],
    ['no difference', limit(0), 'within'],
    ['a gain', limit(-0.2), 'within'],
  ];
  for (const [what, { variants }, word] of cases) {
    test(`calls ${what} ${word}`, () => assert.equal(variants[0]!.word, word));
  }

  test('calls nothing slower without a control', () => {
    const rungs = [{ name: 'base' }, { name: 'present', cpu: 0.5 }];
    const result = fixture({ command: 'bench', rungs, control: { skipped: 'a fixed port' } });
    const { noise, variants } = limitOf(result, 0.03);
    assert.deepEqual([noise, variants[0]!.word], [undefined, 'undecided']);
  });

  test('says the noise first', () => {
    const [first, second] = limitSentences(limit(0.05));
    assert.match(first!, /^The base against itself: up to ± 1\.0/);
    assert.match(
      second!,
      /^present takes at least 4\.\d.% more CPU than the base, and 3.% is allowed: \+5\.0.% CPU/,
    );
    assert.match(limitSentences(limit(0.05, { noise: 0.08 }))[0]!, /only more than that/);
  });
});
