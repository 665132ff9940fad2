import { calls } from './calls-scene.ts';
import type { RouteCost, TopResult } from '../../src/access-log/top.ts';
import type { AdviseResult } from '../../src/advise/result.ts';
import type { DoctorResult } from '../../src/doctor/result.ts';
import type { DeoptFunction, DeoptsResult } from '../../src/deopts/result.ts';
import type { TryResult } from '../../src/try/result.ts';
import { verdictOf } from '../../src/try/verdict.ts';
import { fixture } from './fixture.ts';
import { compareProfiles } from '../../src/flame/change.ts';
import type { FlameDiff } from '../../src/flame/change-document.ts';
import type { FlameFunction, FlameNode, FlameResult } from '../../src/flame/result.ts';
import type { ProveResult } from '../../src/prove/result.ts';
import type { StairsResult } from '../../src/stairs/result.ts';
import { stairsFixture } from '../stairs/fixture.ts';

/** A result of every command that compares nothing, with the longest things each has to show. */

export const run = {
  invocation: 'redline of a test',
  runId: 'abc123',
  redlineVersion: '0.1.0',
  startedAt: '2026-11-21T12:00:00.000Z',
};

/** An app with a long command, measured with redline: 2.4 times as fast unless said otherwise. */
export function tried({ cpu = 2.4, rps = 2.3 }: { cpu?: number; rps?: number }): TryResult {
  const bench = fixture({
    command: 'bench',
    rungs: [{ name: 'as it is' }, { name: 'with redline', cpu, rps, spread: 0.012 }],
    warnings: ['Only the first 20000 requests are replayed; the 12 after them are not.'],
  });
  const command =
    'NODE_ENV=production npm run start:prod --workspace=@some-organisation/orders-api';
  return {
    ...run,
    schema: 1,
    command: 'try',
    title: `${command}, GET /orders/:id`,
    durationSeconds: 61,
    app: {
      command,
      nodeCommand: 'NODE_ENV=production node dist/main',
      framework: 'Nest on Fastify',
      node: '24.21.0',
      port: 3000,
    },
    requestsFrom: 'The busiest GET route of access.log, with 54 % of its time.',
    compared: 'status',
    packages: [
      { name: '@redline/http', version: '0.1.0', from: 'redline' },
      { name: '@redline/child-process', version: '0.1.0', from: 'app' },
    ],
    word: verdictOf(bench),
    keep: [
      'npm install @redline/http',
      `NODE_OPTIONS="--import @redline/http/register --import @redline/child-process/register" ${command}`,
    ],
    bench,
  };
}

export const advised: AdviseResult = {
  ...run,
  schema: 1,
  command: 'advise',
  title: 'app.cpuprofile',
  node: '24.21.0',
  profile: { from: 'app.cpuprofile', samples: 1_000, seconds: 1 },
  leastShare: 0.01,
  leftOut: [{ rule: 'hoist-regexp-literal', hits: 2, why: 'not shown to gain on Node 24' }],
  unread: [{ url: 'file:///gone.js', why: 'ENOENT' }],
  advice: [2, 130].map((value, index) => ({
    rule: 'no-to-fixed-for-numbers',
    text: 'round with Math.round',
    changesResult: 'halves may round the other way, which takes a long sentence to say in full',
    file: 'src/<script>.js',
    line: 10,
    column: 3,
    function: 'priceOf',
    share: 0.5 / (index + 1),
    gain: { value, low: value * 0.9, high: value * 1.1, node: '24.21.0' },
    code: 'const price = parseFloat((product.price * (1 - discount / 100)).toFixed(2)); // <b>'.repeat(
      2,
    ),
    rewrite: { text: 'Math.round(price * 100) / 100', isSafe: false },
  })),
};

export const examined: DoctorResult = {
  ...run,
  schema: 1,
  command: 'doctor',
  title: 'npm start',
  durationSeconds: 1.2,
  app: { framework: 'Nest on Fastify', files: 120, entry: 'src/main.ts' },
  warnings: ['GET /<feed> sends 80 kB uncompressed.'],
  together: {
    word: 'gains',
    cpu: { value: 1.3, low: 1.2, high: 1.4 },
    changes: 2,
    areFixed: false,
  },
  measured: {
    request: 'GET /feed',
    requestFrom: 'Of 3 GET routes that answer, the one that takes longest.',
    requests: 12_345,
    seconds: 5,
    microsPerRequest: 812.3,
    threadMicrosPerRequest: 640.1,
    profiled: { kind: 'process', pid: 4242, processes: 3, threads: 3, share: 0.49 },
    blockedMs: { longest: 20, p99: 3.2 },
    responseBytes: 80_000,
    samples: 9_000,
    node: '24.21.0',
    calls,
  },
  findings: (['certain', 'likely', 'hint'] as const).map((sure, index) => ({
    rule: 'sync-on-request',
    title: 'a synchronous call while a request is served',
    file: `src/${'a-long-name-of-a-folder/'.repeat(index * 2)}<files>.js`,
    line: 10,
    column: 3,
    excerpt: "const text = readFileSync('a'); // <b>".repeat(4),
    sure,
    why: 'readFileSync waits for the disk, and every other request waits with it.',
    how: 'Use the asynchronous form, readFile with await.',
    ...(index === 1
      ? { isOnMeasuredPath: false }
      : {
          cost: { microsPerRequest: 12_345 / (index + 1) ** 6, share: 0.4 },
          proof: {
            word: (['gains', 'nothing', 'fails'] as const)[index]!,
            cpu: { value: 1.3, low: 1.21, high: 1.42 },
            rps: { value: 1.1, low: 1.02, high: 1.2 },
            why: '--test "npm test" ended with exit code 1.',
          },
        }),
    diff:
      index === 0
        ? ''
        : `--- a/x.js\n+++ b/x.js\n@@ -1,1 +1,1 @@\n-${"const text = readFileSync('a'); ".repeat(4)}\n+const text = await readFile('a');\n`,
  })),
};

/** What was proved, as a ladder of three changes. */
export const climbed: DoctorResult = {
  ...examined,
  ladder: fixture({
    command: 'ladder',
    rungs: [
      { name: 'as it is' },
      { name: '+ no-object-assign-to-literal:114', cpu: 1.3, rps: 1.3, note: 'src/a.js:114' },
      { name: '+ cache-without-single-flight', cpu: 2.4, rps: 2.2, note: 'src/feed.ts:12' },
      { name: '+ node-http', cpu: 2.5, rps: 2.6, note: 'package.json:4' },
    ],
  }),
};

export const proved: ProveResult = {
  ...run,
  schema: 1,
  command: 'prove',
  durationSeconds: 3,
  machine: {
    cpuModel: 'a processor',
    cores: 2,
    memoryGiB: 8,
    kernel: 'Linux',
    node: 'v24.21.0',
    v8: '13.6',
    governor: 'not visible',
    virtualisation: 'container',
    pinning: 'none',
  },
  precision: {
    restarts: 5,
    blocks: 6,
    blockMs: 25,
    warmUpMs: 120,
    seed: 1,
    resamples: 10_000,
    leastGain: 0.3,
  },
  rules: [
    {
      rule: 'prefer-structured-clone',
      before: 'function clone(a) {\n  return JSON.parse(JSON.stringify(a));\n}',
      after: 'function clone(a) {\n  return structuredClone(a);\n}',
      runtimes: [
        { node: '10.24.1', skipped: 'the advice needs Node 17' },
        {
          node: '24.21.0',
          v8: '13.6',
          timer: 'mitata 1.0.34',
          ratio: { value: 0.5, low: 0.4, high: 0.6 },
          verdict: 'changed',
          beforeNanos: 900,
          afterNanos: 1_800,
          restarts: 5,
          blocks: 6,
          seed: 1,
          machine: 'a processor',
          measuredOn: '2026-11-21',
          slices: [],
        },
      ],
    },
  ],
};

const load = {
  generator: 'wrk 4.2.0',
  connections: 64,
  requests: [`GET /feed?${'colour=red&size=large&'.repeat(6)}page=1`],
  completed: 123_456,
  seconds: 10,
  serverBusy: 0.97,
  microsPerRequest: 81.3,
};

export const longPlace =
  'node_modules/@some-organisation/a-package-of-a-long-name/dist/esm/internal/serialize.js:1042:17';

export function flamed(own: readonly number[] = [400, 250, 120, 80, 1]): FlameResult {
  const names = ['render', 'Router.prototype.handle [as handleRequestOfThisApplication]', 'writev'];
  const functions: FlameFunction[] = own.map((self, index) => ({
    name: names[index] ?? `(anonymous ${index})`,
    place: index === 1 ? longPlace : index === 2 ? '' : `src/part-${index}.ts:12:3`,
    owner: index === 1 ? 'deps' : index === 2 ? 'core' : 'app',
    self,
    total: self,
    tiers: index === 0 ? { ignition: self } : { turbofan: self },
    ...(index === 0 ? { unoptimised: true as const } : {}),
  }));
  const samples = own.reduce((sum, each) => sum + each, 0);
  const nodes = own.map((self, index): FlameNode => [1, index + 1, self, self, 0, 0, 0, self]);
  return {
    ...run,
    calls,
    schema: 1,
    command: 'flame',
    scenario: 'catalog',
    title: 'A catalog with a name that is long enough to fill a line, GET /feed',
    variant: 'express 4',
    machine: proved.machine,
    node: '24.21.0',
    load,
    sampler: 'inspector',
    samples,
    idleSamples: 12,
    seconds: 10,
    tierKnown: 0.998,
    tiersAt: 'sample',
    owners: { app: own[0]! + own[3]! + own[4]!, deps: own[1]!, core: own[2]!, v8: 0 },
    tiers: { ignition: own[0]!, sparkplug: 0, maglev: 0, turbofan: samples - own[0]!, none: 0 },
    functions: [
      { name: '(all)', place: '', owner: 'v8', self: 0, total: samples, tiers: {} },
      ...functions,
    ],
    tree: [[0, 0, samples, 0, 0, 0, 0, samples], ...nodes],
    leastSamples: 1,
    warnings: ['The server used 97 % of a core: the rest of the time it waited.'],
  };
}

const before = flamed();
const after = { ...flamed([100, 250, 300, 80, 40]), variant: 'express 4 with a faster renderer' };

export const diffed: FlameDiff = {
  ...run,
  schema: 1,
  command: 'flame-diff',
  scenario: 'catalog',
  title: `${before.variant} → ${after.variant}`,
  before,
  after,
  change: compareProfiles(before, after),
  warnings: [],
};

function deopted(name: string, place: string): DeoptFunction {
  return {
    name,
    place,
    owner: 'app',
    own: 0.123,
    now: 'maglev',
    optimised: 7,
    isLoop: true,
    isStillGoing: true,
    history: Array.from({ length: 30 }, (_, index) => ({
      seconds: index / 2,
      tier: index % 2 === 0 ? ('turbofan' as const) : ('ignition' as const),
      ...(index % 2 === 0 ? {} : { deopt: 'wrong map' }),
    })),
    sites: [
      {
        reason: 'insufficient type feedback for generic named access',
        kind: 'eager',
        from: 'turbofan',
        times: 12,
        place: longPlace,
        inlinedAt: ['src/list.ts:12:7', longPlace],
        source: {
          text: `  return ${'items.map((item) => priceOf(item)), '.repeat(6)}total | 0; // <b>`,
          column: 140,
        },
        lastSeconds: 9,
        explanation:
          'V8 had seen objects of one shape here, and then one of another came. Give them all the same properties in the same order.',
      },
    ],
  };
}

export const deopts: DeoptsResult = {
  ...run,
  schema: 1,
  command: 'deopts',
  scenario: 'catalog',
  title: 'A catalog with a name that is long enough to fill a line, GET /feed',
  variant: 'express 4',
  machine: proved.machine,
  node: '24.21.0',
  load,
  functions: [
    deopted('priceOf', 'src/price.ts:3:10'),
    deopted('RouterOfThisApplication.prototype.handleRequest', longPlace),
  ],
  benign: 31,
  warnings: ['The server used 60 % of a core: the rest of the time it waited.'],
};

function route(method: string, path: string, more: Partial<RouteCost> = {}): RouteCost {
  return {
    method,
    route: path,
    requests: 12_345,
    share: 0.3,
    totalMs: 123_456,
    meanMs: 10.2,
    p50Ms: 8.1,
    p99Ms: 104.4,
    serverErrors: 12,
    example: path.replaceAll(':id', '4711'),
    ...more,
  };
}

export const topped: TopResult = {
  ...run,
  schema: 1,
  command: 'top',
  title: 'Routes of access.log',
  files: ['access.log'],
  counts: {
    lines: 40_000,
    requests: 39_000,
    other: 900,
    unreadable: 100,
    unreadableSamples: ['?'],
  },
  hasDurations: true,
  spanSeconds: 3_600,
  routes: [
    route('GET', '/orders/:id/items/:id/attachments/:uuid/versions/:id/raw'),
    route('POST', '/orders/:id/items/:id/attachments/:uuid/versions/:id/sign', { share: 0.2 }),
    route('GET', '/health', { share: 0.001, totalMs: 1, serverErrors: 0 }),
  ],
  warnings: [
    '100 of 40000 lines could not be read. The first: Server listening at http://0.0.0.0:3000',
  ],
};

export const replayed: TopResult = {
  ...topped,
  command: 'replay',
  title: 'access.log against http://127.0.0.1:3000, 2 × as recorded',
};

/** What waits for a database has a column more. */
export function waitingStairs(): StairsResult {
  const result = stairsFixture();
  return {
    ...result,
    calls,
    stages: result.stages.map((stage, index) => ({
      ...stage,
      waitingMs: { value: index * 3.5, low: index * 3, high: index * 4 },
    })),
  };
}
