import assert from 'node:assert/strict';
import * as node from 'node:http';
import { describe, test } from 'node:test';
import * as redline from '../src/index.ts';
import type { HttpModule } from './conformance/engine.ts';
import { exceptions } from './conformance/exceptions.ts';
import { suites } from './conformance/suites.ts';

/** With REDLINE_CONFORMANCE=node, or without the addon, this compares Node with Node: the suite itself is tested. */
const isNative =
  redline.engine().name === 'native' && process.env['REDLINE_CONFORMANCE'] !== 'node';
const ours = isNative ? (redline as unknown as HttpModule) : node;

for (const [suite, behaviours] of Object.entries(suites)) {
  describe(`as node:http, ${suite}:`, () => {
    for (const [name, behave] of Object.entries(behaviours)) {
      test(name, { timeout: 30_000 }, async () => {
        const expected = await behave(node);
        const actual = await behave(ours);
        assert.notEqual(expected, undefined);
        // An exception that is none any more is to be struck off the list.
        if (isNative && name in exceptions) assert.notDeepEqual(actual, expected);
        else assert.deepEqual(actual, expected);
      });
    }
  });
}
