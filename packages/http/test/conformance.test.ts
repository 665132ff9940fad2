import assert from 'node:assert/strict';
import * as node from 'node:http';
import { describe, test } from 'node:test';
import * as redline from '../src/index.ts';
import type { HttpModule } from './conformance/engine.ts';
import { exceptions, reasonOnThisNode } from './conformance/exceptions.ts';
import { atATime, suites } from './conformance/suites.ts';

/** With REDLINE_CONFORMANCE=node, or without the addon, this compares Node with Node: the suite itself is tested. */
const isNative =
  redline.engine().name === 'native' && process.env['REDLINE_CONFORMANCE'] !== 'node';
const ours = redline as unknown as HttpModule;

/** The engine with a thread of its own; options that are none go to it as they are. */
const threaded = {
  createServer: (...given: unknown[]): unknown => {
    const [options] = given;
    const isOptions = typeof options === 'object' && options !== null && !Array.isArray(options);
    if (isOptions) given[0] = { ...options, threaded: true };
    else if (options === undefined || typeof options === 'function')
      given = [{ threaded: true }, options ?? given[1]];
    return (ours.createServer as (...given: unknown[]) => unknown)(...given);
  },
} as HttpModule;

const engines = isNative ? { '': ours, ', on a thread': threaded } : { '': node };

for (const [suite, behaviours] of Object.entries(suites)) {
  describe(`as node:http, ${suite}:`, { concurrency: atATime(suite) }, () => {
    for (const [name, behave] of Object.entries(behaviours)) {
      const expectation = once(() => behave(node));
      for (const [mode, engine] of Object.entries(engines)) {
        const skip = isNative && reasonOnThisNode(name);
        test(`${name}${mode}`, { timeout: 600_000, skip }, async () => {
          const expected = await expectation();
          const actual = await behave(engine);
          assert.notEqual(expected, undefined);
          // An exception that is none any more is to be struck off the list.
          if (isNative && name in exceptions) assert.notDeepEqual(actual, expected);
          else assert.deepEqual(actual, expected);
        });
      }
    }
  });
}

/** What it gives the first time. */
function once<T>(call: () => T): () => T {
  let result: { value: T } | undefined;
  return () => (result ??= { value: call() }).value;
}
