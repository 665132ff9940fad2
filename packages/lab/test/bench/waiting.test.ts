import assert from 'node:assert/strict';
import { test } from 'node:test';
import { warningsOf } from '../../src/bench/guards.ts';
import type { Observations } from '../../src/bench/observations.ts';
import { isMeasured } from '../../src/bench/result.ts';
import { proofText } from '../../src/doctor/report/doctor-rows.ts';
import { fixture } from '../report/fixture.ts';

/** The same run with servers that use a fifth of a core, whose responses take this long. */
function warningsWith(p50: number): string[] {
  const result = fixture({ command: 'bench' });
  for (const variant of [...result.variants, result.control]) {
    if (!isMeasured(variant)) continue;
    variant.serverBusy = 0.2;
    variant.cpuMicrosPerRequest = 500;
    variant.latencyMs.p50 = p50;
  }
  const seen = { voidSlices: [], latencies: [], slices: [] } as Partial<Observations>;
  return warningsOf(result, seen as Observations).map((text) => text.replaceAll('\u00a0', ' '));
}

test('a comparison of apps that wait shows how long a response takes beside its CPU', () => {
  const waiting = warningsWith(9).find((text) => text.startsWith('Most of a response'));
  assert.match(
    waiting!,
    /^Most of a response is waiting: express 4 takes 9\.0 ms and uses 0\.50 ms of CPU, .*shows in p50 and p99, one that saves work in CPU/,
  );
  assert.equal(
    warningsWith(1).some((text) => text.startsWith('Most of a response')),
    false,
  );
  assert.ok(
    warningsWith(1).some((text) => text.startsWith('The server was not always the bottleneck')),
  );
});

test('a proof of a change that saves waits has both times of a response', () => {
  const gain = { value: 3, low: 2.8, high: 3.2 };
  assert.match(
    proofText({ word: 'gains', rps: gain, responseMs: { before: 9, after: 3 } }).replaceAll(
      '\u00a0',
      ' ',
    ),
    /^Proved: 3\.\d+ × \[.*\] the requests per second, a response takes 3\.0 ms instead of 9\.0 ms\.$/,
  );
});
