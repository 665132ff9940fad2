import { growthOf, minGrowth } from '../../src/heap/growth.ts';
import type { HeapResult } from '../../src/heap/result.ts';
import { longPlace, proved, run } from './scenes.ts';

/** Readings of a process that grows by `bytesEach` with each request. */
function grown(bytesEach: number): HeapResult['readings'] {
  return Array.from({ length: 9 }, (_, round) => ({
    requests: 2_000 * round,
    heapUsed: 48_123_456 + 2_000 * round * bytesEach + (round % 3) * 1_500,
    external: 4_100_000,
    arrayBuffers: 160_000,
    rss: 131_000_000 + 2_000 * round * bytesEach * 1.2 + (round % 2) * 300_000,
  }));
}

/** A leak of the app, and one without a line of the app. */
export const leaking: HeapResult = {
  ...run,
  schema: 1,
  command: 'heap',
  scenario: 'catalog',
  title: 'A catalog with a name that is long enough to fill a line, GET /feed',
  variant: 'express 4',
  machine: proved.machine,
  node: '24.21.0',
  load: {
    connections: 8,
    requests: ['GET /feed?page=2', 'GET /orders/4711/items'],
    requestsPerRound: 2_000,
    discarded: 12_345,
    recorded: 400,
  },
  readings: grown(180),
  growth: growthOf(grown(180)),
  verdict: 'grows',
  leastGrowth: minGrowth,
  explained: 0.97,
  sites: [
    {
      place: `${longPlace}:12:5`,
      line: 'this.#sessionsOfVisitorsThatAreHere.set(identifierOf(request), { request, seen: new Set<string>() });',
      how: 'adds',
      functionName: 'rememberEveryVisitorOfThisApplication',
      bytes: 120_000,
      kinds: [
        { name: 'Object', count: 1 },
        { name: 'IncomingMessageOfAnOldFramework', count: 0.5 },
        { name: 'string', count: 12.3 },
      ],
      path: [
        { label: '[]', name: 'TCP' },
        { label: '<symbol owner_symbol>', name: 'Server' },
        { label: '_events', name: 'Object' },
        { label: 'request', name: 'handle()' },
        { label: '#sessionsOfVisitorsThatAreHere', name: 'Map' },
        { label: 'previous', name: 'Entry', times: 12 },
        { label: '[]', name: 'Object' },
      ],
      stack: [
        { name: 'rememberEveryVisitorOfThisApplication', place: `${longPlace}:9:3` },
        { name: '', place: 'src/app.ts:4:11' },
      ],
    },
    {
      place: '',
      line: '',
      how: 'unknown',
      functionName: '',
      bytes: 42_000,
      kinds: [{ name: 'Timeout', count: 1 }],
      path: [{ label: '[]', name: 'TimersList' }],
      stack: [],
    },
  ],
  cost: { collectionMs: 123.4, snapshotMs: 2_345, snapshotBytes: 187_654_321 },
  warnings: ['12 of 36000 requests had a status of 400 or above.'],
};

export const steady: HeapResult = {
  ...leaking,
  readings: grown(0),
  growth: growthOf(grown(0)),
  verdict: 'steady',
  sites: [],
  cost: { collectionMs: 18 },
  warnings: [],
};
