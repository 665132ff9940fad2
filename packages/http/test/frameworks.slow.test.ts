import assert from 'node:assert/strict';
import * as node from 'node:http';
import { describe, test } from 'node:test';
import * as redline from '../src/index.ts';
import type { HttpModule } from './conformance/engine.ts';
import { exceptions, reasonOnThisNode } from './conformance/exceptions.ts';
import { atATime, suites } from './conformance/suites.ts';
import { frameworks, under } from './frameworks/frameworks.ts';

const ours = redline as unknown as HttpModule;
const isNative = redline.engine().name === 'native';

/** What a handler does and sees; the other suites are about servers, whatever their handler is. */
const suitesOfHandlers = [
  'bodies',
  'expectations',
  'headers',
  'responses',
  'heads of responses',
  'closing',
  'framing',
  'aborts',
  'greed',
  'streams',
  'large pieces',
  'signals',
  'surroundings',
  'thrown',
];

/** Behaviours of handlers that throw or reject: a framework catches that, and answers in its own way. */
const takenAway = new Set([
  'forms of writeHead',
  'an error in a listener is uncaught',
  'trailers of a response',
  'captureRejections',
  'a request is not complete yet when the process hears of what its listener threw',
]);

// Suite by suite, so that what waits in one framework gives its time to the others.
for (const suite of suitesOfHandlers) {
  const title = `as node:http under each framework, ${suite}:`;
  const concurrency = atATime(suite) * (atATime(suite) > 1 ? 4 : 1);
  describe(title, { skip: !isNative, concurrency }, async () => {
    for (const [framework, prepare] of Object.entries(frameworks)) {
      const handler = await prepare();
      for (const [name, behave] of Object.entries(suites[suite]!)) {
        if (takenAway.has(name) || name in exceptions) continue;
        const skip = reasonOnThisNode(name) ?? false;
        test(`${name}, under ${framework}`, { timeout: 600_000, skip }, async () => {
          const expected = await behave(under(handler, node));
          const actual = await behave(under(handler, ours));
          assert.deepEqual(actual, expected);
        });
      }
    }
  });
}
