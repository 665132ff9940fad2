import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fuzz } from './fuzz.ts';
import { generate, smaller } from './program.ts';
import { seeds } from './seeds.ts';

describe('random programs', { timeout: 600_000 }, () => {
  test('are the same for the same seed', () => {
    assert.deepEqual(generate(4711), generate(4711));
    assert.notDeepEqual(generate(4711).children, generate(4712).children);
  });

  test('get smaller, and never larger', () => {
    const size = (value: unknown) => JSON.stringify(value).length;
    for (let seed = 0; seed < 50; seed++) {
      const program = generate(seed);
      for (const less of smaller(program)) assert.ok(size(less) < size(program), `seed ${seed}`);
    }
  });

  test('of the stored seeds do what they do on node:child_process', async () => {
    const { count, differences } = await fuzz(seeds);
    assert.deepEqual(differences, []);
    assert.equal(count, seeds.length);
  });
});
