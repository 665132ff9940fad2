import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sentenceOf, verdictOf } from '../../src/try/verdict.ts';
import { fixture } from '../report/fixture.ts';

const name = 'changed';

/** What is said of a variant that takes so many times less CPU, known to ± 1.2 %, beside a base known to ± 2 %. */
function wordFor(cpu: number, worthwhile?: number): string {
  const rungs = [{ name: 'as it is' }, { name, cpu, rps: 1, spread: 0.012 }];
  return verdictOf(fixture({ command: 'bench', rungs, warnings: [] }), name, worthwhile);
}

describe('the word for a change', () => {
  test('a gain beyond the band is one', () => {
    assert.equal(wordFor(1.2), 'gains');
    assert.equal(wordFor(1.2, 1.02), 'gains');
  });

  test('a gain of less than 5 % is not worth a dependency', () => {
    assert.equal(wordFor(1.03), 'nothing');
  });

  test('of an edit it is', () => {
    assert.equal(wordFor(1.03, 1.02), 'gains');
    assert.equal(wordFor(1.015, 1.02), 'unresolved');
    assert.equal(wordFor(1.003, 1.02), 'nothing');
  });

  test('one start of each is not enough for any, and too wide an interval is no figure', () => {
    const rungs = [{ name: 'as it is' }, { name: 'with redline', cpu: 1.5, rps: 1, spread: 0.012 }];
    const bench = fixture({ command: 'bench', rungs, warnings: [] });
    const once = { ...bench, precision: { ...bench.precision, restarts: 1 } };
    assert.equal(verdictOf(once), 'unresolved');
    const said = (result: typeof bench): string =>
      sentenceOf({ bench: result, word: 'unresolved' } as Parameters<typeof sentenceOf>[0]);
    assert.match(said(once), /^This run cannot tell: one start of each says nothing/);
    assert.match(said(bench), /^This run cannot tell: between 1\.\d\d.× and 1\.\d\d.× less/);
    for (const variant of bench.variants) {
      if ('cpuRatio' in variant) variant.cpuRatio = { value: 1.5, low: 0.05, high: 40 };
    }
    assert.match(said(bench), /^This run cannot tell: \d+ starts of each differ too much/);
  });

  test('the limit of requests per second is named by measurement', () => {
    const rungs = [
      { name: 'as it is' },
      { name: 'with redline', cpu: 1.5, rps: 1.2, spread: 0.012 },
    ];
    const bench = fixture({ command: 'bench', rungs, warnings: [] });
    const [slice] = bench.slices;
    for (const variant of bench.variants) if ('serverBusy' in variant) variant.serverBusy = 0.6;
    for (const variant of bench.variants) {
      if ('rpsVerdict' in variant && variant.rpsVerdict !== 'base')
        variant.rpsVerdict = 'unresolved';
    }
    const said = (waitedShare: number, tookMs: number): string => {
      const waited = { seconds: 2, waitedForCoreMicros: waitedShare * 2e6 };
      bench.slices = [1, 2, 3].map((block) => ({
        ...slice!,
        variant: 'with redline',
        block,
        ...waited,
      }));
      return sentenceOf({ bench, word: 'gains', response: { tookMs, cpuMs: 1 } });
    };
    assert.match(said(0, 20), /limited by what the app waits for\.$/);
    assert.match(said(0, 1), /The load did not keep the server busy all the time/);
    // On a shared machine, long responses are not waits of the app.
    assert.match(said(0.3, 20), /Other processes had the server's core for 30.% of the time/);
    assert.doesNotMatch(said(0.3, 20), /limited by/);
  });

  test('a loss is one, whatever would be worthwhile', () => {
    assert.equal(wordFor(0.8), 'loses');
    assert.equal(wordFor(0.8, 1.02), 'loses');
  });
});
