import assert from 'node:assert/strict';
import * as node from 'node:http';
import { describe, test } from 'node:test';
import * as redline from '../src/index.ts';
import { aborts } from './conformance/aborts.ts';
import { bodies } from './conformance/bodies.ts';
import { closing } from './conformance/closing.ts';
import { clientErrors } from './conformance/client-errors.ts';
import { connections } from './conformance/connections.ts';
import type { HttpModule } from './conformance/engine.ts';
import { exceptions } from './conformance/exceptions.ts';
import { expectations } from './conformance/expectations.ts';
import { framing } from './conformance/framing.ts';
import { greed } from './conformance/greed.ts';
import { headers } from './conformance/headers.ts';
import { limits } from './conformance/limits.ts';
import { listening } from './conformance/listening.ts';
import { refusals } from './conformance/refusals.ts';
import { responseHeads } from './conformance/response-heads.ts';
import { responses } from './conformance/responses.ts';
import { sentSockets } from './conformance/sent-sockets.ts';
import { signals } from './conformance/signals.ts';
import { streams } from './conformance/streams.ts';
import { surroundings } from './conformance/surroundings.ts';
import { upgrades } from './conformance/upgrades.ts';

const suites = {
  connections,
  bodies,
  expectations,
  headers,
  responses,
  'heads of responses': responseHeads,
  limits,
  'client errors': clientErrors,
  refusals,
  closing,
  framing,
  aborts,
  upgrades,
  listening,
  greed,
  streams,
  'sockets that are sent': sentSockets,
  signals,
  surroundings,
};

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
