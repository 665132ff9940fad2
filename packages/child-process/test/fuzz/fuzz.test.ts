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

  test('have nothing but the output end with a process that may wait for room in it', () => {
    let filled = 0;
    for (let seed = 0; seed < 2000; seed++) {
      for (const { script } of generate(seed).children) {
        if (!script.some((line) => line === 'cat' || line.startsWith('head -c 1000000'))) continue;
        filled++;
        assert.ok(!script.includes('(sleep 0.5; echo later) &'), `seed ${seed}`);
      }
    }
    assert.ok(filled > 0);
  });

  test('of some of the stored seeds do what they do on node:child_process', async () => {
    // All of them in fuzz.slow.test.ts.
    const some = seeds.filter((_, index) => index % 4 === 0);
    const { count, differences } = await fuzz(some);
    assert.deepEqual(differences, []);
    assert.equal(count, some.length);
  });
});
