import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildCallTree } from '../../src/profile/call-tree.ts';
import { checkCpuProfile, type CpuProfile } from '../../src/profile/cpu-profile.ts';
import { functionsOf, unoptimisedHot } from '../../src/profile/functions.ts';
import type { CompiledCode } from '../../src/profile/v8/jit-dump.ts';
import type { Tier } from '../../src/profile/tiers.ts';
import { type CodeEvent, parseLogLine } from '../../src/profile/v8/v8-log.ts';

const frame = (functionName: string, url: string, line: number): object => ({
  functionName,
  url,
  lineNumber: line - 1,
  columnNumber: 0,
});

/** root → handler → helper, plus garbage collection and idleness; one sample a millisecond. */
function profile(samples: number[]): CpuProfile {
  return checkCpuProfile(
    {
      nodes: [
        { id: 1, callFrame: frame('(root)', '', 0), children: [2, 4, 5] },
        { id: 2, callFrame: frame('handler', 'file:///srv/app.js', 1), children: [3] },
        { id: 3, callFrame: frame('helper', 'file:///srv/app.js', 9) },
        { id: 4, callFrame: frame('(garbage collector)', '', 0) },
        { id: 5, callFrame: frame('(idle)', '', 0) },
      ],
      samples,
      timeDeltas: samples.map(() => 1_000),
      startTime: 0,
      endTime: samples.length * 1_000,
    },
    'test',
  );
}

function events(...lines: string[]): CodeEvent[] {
  return lines.map((line) => parseLogLine(line)!);
}

const inIgnition = [
  'code-creation,JS,9,10,0xa1,1,handler /srv/app.js:1:1,0x1,~',
  'code-creation,JS,9,20,0xb1,1,helper /srv/app.js:9:1,0x2,~',
];

describe('the call tree', () => {
  test('gives each frame the tier it had when it was seen', () => {
    const tree = buildCallTree(profile([2, 2, 2, 2]), {
      events: events(
        ...inIgnition,
        'code-creation,JS,11,7500,0xa2,1,handler /srv/app.js:1:1,0x1,*',
      ),
      startMicros: 5_000,
    });
    const [handler] = tree.root.children;
    assert.deepEqual(handler!.tiers, { ignition: 2, turbofan: 2 });
    assert.deepEqual(tree.javaScript, { frames: 4, known: 4 });
  });

  test('gives an inlined function the tier of the code it is in', () => {
    const tree = buildCallTree(profile([3, 3]), {
      events: events(
        ...inIgnition,
        'code-creation,JS,12,30,0xa2,1,handler /srv/app.js:1:1,0x1,*',
        'code-source-info,0xa2,7,0,9,C0O0,F0O1I0,S0x2',
      ),
      startMicros: 5_000,
    });
    assert.deepEqual(tree.root.children[0]!.children[0]!.tiers, { turbofan: 2 });
  });

  test('falls back to the baseline code, or to the interpreter, after a deopt', () => {
    const after = (...more: string[]): unknown => {
      const tree = buildCallTree(profile([2]), {
        events: events(
          ...inIgnition,
          ...more,
          'code-creation,JS,12,50,0xa3,1,handler /srv/app.js:1:1,0x1,*',
          'code-deopt,60,1,0xa3,-1,5,deopt-eager,</srv/app.js:2:3>,wrong map',
        ),
        startMicros: 5_000,
      });
      return tree.root.children[0]!.tiers;
    };
    assert.deepEqual(after(), { ignition: 1 });
    assert.deepEqual(after('code-creation,JS,10,40,0xa2,1,handler /srv/app.js:1:1,0x1,^'), {
      sparkplug: 1,
    });
  });

  const compiled = (micros: number, tier: Tier, line: number, more: object = {}): CompiledCode => ({
    type: 'compiled',
    micros,
    tier,
    name: line === 1 ? 'handler' : 'helper',
    place: { url: '/srv/app.js', line, column: 1 },
    address: micros * 1_000,
    bytes: 100,
    positions: [],
    ...more,
  });

  test('follows what V8 makes and leaves while the profile is taken', () => {
    const tree = buildCallTree(profile([2, 2, 2, 2, 2]), {
      events: events(...inIgnition),
      startMicros: 5_000,
      during: {
        existing: [compiled(0, 'sparkplug', 1)],
        changes: [
          compiled(1_500, 'maglev', 1),
          compiled(2_500, 'turbofan', 1),
          {
            type: 'bailout',
            micros: 4_500,
            address: 2_500_050,
            kind: 'eager',
            reason: 'wrong map',
          },
        ],
      },
    });
    assert.deepEqual(tree.root.children[0]!.tiers, { sparkplug: 2, maglev: 1, turbofan: 2 });
  });

  test('knows what the start of the profile threw away', () => {
    const tree = buildCallTree(profile([2]), {
      events: events(
        ...inIgnition,
        'code-creation,JS,12,30,0xa2,1,handler /srv/app.js:1:1,0x1,*',
        'code-creation,JS,12,30,0xb2,1,helper /srv/app.js:9:1,0x2,*',
      ),
      startMicros: 5_000,
      during: { existing: [compiled(0, 'turbofan', 9), compiled(0, 'sparkplug', 9)], changes: [] },
    });
    assert.deepEqual(tree.root.children[0]!.tiers, { ignition: 1 });
  });

  test('tells by the places in the code what was inlined, its neighbours apart', () => {
    const tiersOf = (line: number): unknown => {
      const tree = buildCallTree(profile([3]), {
        events: events(
          'script-source,7,/srv/app.js,1234567890\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9 helper\\n10\\n11',
          inIgnition[0]!,
          'code-source-info,0xa1,7,0,42,C0O0,,',
          inIgnition[1]!,
          // Line 9 alone: line 10 is the handler's again.
          'code-source-info,0xb1,7,25,33,C0O25,,',
        ),
        startMicros: 5_000,
        during: {
          existing: [
            compiled(0, 'turbofan', 1, { positions: [{ url: '/srv/app.js', line, column: 2 }] }),
          ],
          changes: [],
        },
      });
      return tree.root.children[0]!.children[0]!.tiers;
    };
    assert.deepEqual(tiersOf(9), { turbofan: 1 });
    assert.deepEqual(tiersOf(10), { ignition: 1 });
  });

  test('leaves idle samples out, and counts garbage collection as V8', () => {
    const tree = buildCallTree(profile([5, 5, 4, 3]));
    assert.equal(tree.samples, 2);
    assert.equal(tree.idleSamples, 2);
    const costs = functionsOf(tree);
    assert.deepEqual(
      costs.map(({ frame: { name, owner }, self }) => [name, owner, self]),
      [
        ['(garbage collector)', 'v8', 1],
        ['helper', 'app', 1],
        ['handler', 'app', 0],
      ],
    );
  });

  test('flags a function that is hot and not optimised', () => {
    const tree = buildCallTree(profile([2, 2, 3, 3]), {
      events: events(...inIgnition, 'code-creation,JS,12,50,0xb2,1,helper /srv/app.js:9:1,0x2,*'),
      startMicros: 5_000,
    });
    const hot = unoptimisedHot(functionsOf(tree), tree.samples);
    assert.deepEqual(
      hot.map((each) => each.frame.name),
      ['handler'],
    );
  });

  test('is refused when the profile holds no samples', () => {
    assert.throws(() => profile([]), {
      code: 'ERR_REDLINE_PROFILE',
      message: /test is empty: no sample was taken/,
    });
    assert.throws(() => checkCpuProfile({ a: 1 }, 'x.json'), /x\.json is not a CPU profile/);
  });
});
