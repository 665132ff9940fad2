import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { moreWarmUpMs } from '../../src/bench/restart/warm-up.ts';

describe('moreWarmUpMs', () => {
  const precision = { warmupMs: 1_000, warmupRequests: 12_000 };

  test('is as long as the missing requests take', () => {
    assert.equal(moreWarmUpMs({ requests: 6_000, seconds: 1 }, precision), 1_000);
    assert.equal(moreWarmUpMs({ requests: 8_000, seconds: 2 }, precision), 1_000);
  });

  test('is at most three times the first part, and nothing for a server without a response', () => {
    assert.equal(moreWarmUpMs({ requests: 10, seconds: 1 }, precision), 3_000);
    assert.equal(moreWarmUpMs({ requests: 0, seconds: 1 }, precision), 0);
  });

  test('is 0 when there were enough, or when no number is asked for', () => {
    assert.equal(moreWarmUpMs({ requests: 12_000, seconds: 1 }, precision), 0);
    assert.equal(moreWarmUpMs({ requests: 10, seconds: 1 }, { warmupMs: 1_000 }), 0);
  });
});
