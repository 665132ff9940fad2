import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { run } from './application.ts';
import { bodies } from './plugins/bodies.ts';
import { sessions } from './plugins/sessions.ts';
import { traffic } from './plugins/traffic.ts';

const plugins = { ...bodies, ...sessions, ...traffic };

describe('plugins of Fastify answer as on node:http', { timeout: 600_000 }, () => {
  for (const [name, build] of Object.entries(plugins)) {
    test(name, { timeout: 600_000 }, async () => {
      const expected = await run(build, 'node');
      const actual = await run(build, 'redline');
      assert.deepEqual(actual, expected);
      assert.notEqual(expected, null);
    });
  }

  test('the twenty that people use most', () => {
    assert.equal(Object.keys(plugins).length, 20);
  });
});
