import assert from 'node:assert/strict';
import { test } from 'node:test';
import { microsPerSample } from '../../src/doctor/cost/measure-app.ts';

const profile = { seconds: 5, samples: 8_000, idleSamples: 2_000 };

test('a sample of redline doctor stands for the time that the app had a core', () => {
  assert.equal(microsPerSample(profile, 0), 500);
  // Another process had the core for three of the five seconds.
  assert.equal(microsPerSample(profile, 3_000_000), 200);
  assert.equal(microsPerSample(profile, 9_000_000), 0);
  assert.equal(microsPerSample({ seconds: 0, samples: 0, idleSamples: 0 }, 0), 0);
});
