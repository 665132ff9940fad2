import type { MemoryFigures } from '../../src/stairs/memory.ts';
import type { StairsResult } from '../../src/stairs/result.ts';

const interval = (value: number, half: number): { value: number; low: number; high: number } => ({
  value,
  low: value - half,
  high: value + half,
});

const memoryOf = (bytes: number, collectorMicros: number): MemoryFigures => ({
  allocatedBytes: interval(bytes, 10),
  collectorMicros: interval(collectorMicros, 0.2),
  collectorShare: Math.max(0, collectorMicros) / 60,
});

/** A result as a run leaves it, with one stage of every kind of verdict. */
export function stairsFixture(change: Partial<StairsResult> = {}): StairsResult {
  const stage = (
    name: string,
    micros: number,
    verdict: 'changed' | 'same' | 'unresolved',
    more: object = {},
  ): StairsResult['stages'][number] => ({
    name,
    kind: 'function',
    place: `src/${name}.js:12`,
    micros: interval(micros, 0.3),
    share: micros / 60,
    verdict,
    rpsIfItEnded: interval(20_000, 300),
    includes: [],
    calls: [],
    waitingMs: interval(0, 0),
    memory: memoryOf(micros * 100, micros / 2),
    cut: 0,
    ...more,
  });
  return {
    schema: 1,
    command: 'stairs',
    scenario: 'catalog',
    title: 'catalog, GET /feed',
    invocation: 'redline stairs http://127.0.0.1:3000/feed',
    runId: 'a1b2c3',
    redlineVersion: '0.1.0',
    startedAt: '2026-11-21T10:00:00.000Z',
    durationSeconds: 48,
    machine: {
      cpuModel: 'Some Processor',
      cores: 2,
      memoryGiB: 8,
      kernel: 'Linux 6.12.0 x64',
      node: 'v24.11.0',
      v8: '13.6',
      governor: 'not visible',
      virtualisation: 'virtual',
      pinning: 'server on core 1, load on core 0',
    },
    app: {
      name: 'main.js',
      command: ['node', 'main.js'],
      node: 'v24.11.0',
      frameworks: ['Express 5'],
    },
    load: {
      generator: 'wrk 4.2.0',
      threads: 1,
      connections: 16,
      request: `GET /feed?${'colour=red&size=large&'.repeat(12)}page=1`,
    },
    precision: {
      restarts: 1,
      rounds: 40,
      guardMs: 6,
      countedMs: 74,
      resamples: 10_000,
      seed: 7,
      bandMicros: 0.35,
      endingMicros: interval(2.3, 0.1),
      clock: 'thread',
    },
    stages: [
      stage('parse HTTP', 20, 'changed', { kind: 'http', place: '', cut: -1 }),
      stage('verifyToken', 6, 'changed'),
      stage('rateLimit', 0.02, 'same', { calls: [{ name: 'normalise', count: 48 }] }),
      stage('banners', -0.4, 'unresolved', { micros: interval(-0.4, 0.6) }),
      stage('selectItems', 34.38, 'changed', {
        includes: ['rank', 'price'],
        memory: memoryOf(1_021_000, 12.6),
      }),
    ],
    whole: {
      micros: interval(60.2, 0.4),
      rps: interval(16_611, 100),
      processMicros: 64,
      control: interval(0.05, 0.2),
      controlVerdict: 'same',
      memory: memoryOf(1_100_000, 15),
    },
    sumMicros: 60,
    unattributedMicros: 0.2,
    leftOut: [{ name: 'legacy', reason: 'reached by 40 % of the requests under load' }],
    warnings: [],
    slices: [],
    ...change,
  };
}
