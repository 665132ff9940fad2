import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzz } from './fuzz.ts';
import { seeds } from './seeds.ts';

test('random programs of all stored seeds do what they do on node:child_process', async () => {
  const { count, differences } = await fuzz(seeds);
  assert.deepEqual(differences, []);
  assert.equal(count, seeds.length);
});
