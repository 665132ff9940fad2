import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { analyse, explain, isBenign } from '../../src/deopts/analyse.ts';
import { SourceMaps } from '../../src/profile/source-maps.ts';
import { type CodeEvent, parseLogLine, readLog } from '../../src/profile/v8/v8-log.ts';

/**
 * Recorded from `node --log-code --log-deopt` of each version, only the lines of one file: a function
 * `pad(val) { return val >= 10 ? val : '0' + val; }`, called by getTime, called by a loop in work; first with numbers
 * of two digits only, then with others.
 */
function fixture(major: number): Promise<CodeEvent[]> {
  return readLog(fileURLToPath(new URL(`./fixtures/node-${major}.log`, import.meta.url)));
}

const analysed = async (major: number): Promise<ReturnType<typeof analyse>> =>
  analyse({ events: await fixture(major), maps: new SourceMaps(), folder: '/app' });

describe('redline deopts', () => {
  for (const major of [10, 12, 14, 16, 18, 20, 22, 24, 26]) {
    test(`explains the mixed return of Node ${major}'s log`, async () => {
      const { functions } = await analysed(major);
      const sites = functions.flatMap((each) => each.sites.map((site) => ({ ...site, of: each })));
      const found = sites.filter((site) => site.place === 'article.js:2:32');
      assert.ok(found.length >= 2, JSON.stringify(functions, undefined, 1));
      for (const { reason, explanation, from } of found) {
        assert.equal(reason, 'Insufficient type feedback for binary operation');
        assert.match(explanation!, /\(val >= 10 \? "" : "0"\) \+ val/);
        assert.ok(from === 'maglev' || from === 'turbofan');
      }
      const inlined = found.find((site) => site.inlinedAt.length > 0)!;
      assert.equal(inlined.inlinedAt[0], 'article.js:6:10');
      assert.ok(['getTime', 'work'].includes(inlined.of.name));
      const [first] = inlined.of.history;
      assert.equal(first!.tier, 'ignition');
      assert.ok(first!.seconds! > 0);
    });
  }

  test('hides what V8 does on purpose, and counts it', async () => {
    const { functions, benign } = await analysed(24);
    assert.ok(benign >= 1);
    const reasons = functions.flatMap(({ sites }) => sites.map(({ reason }) => reason));
    assert.ok(!reasons.some((reason) => isBenign(reason)), String(reasons));
  });

  test('tells a loop from a one-off, and what goes on from what has settled', () => {
    const lines = (name: string, at: number, deopts: number[]): string[] => [
      `code-creation,JS,9,1,0x${at},1,${name} /app/a.js:${at}:1,0x5${at},~`,
      ...deopts.flatMap((micros, index) => [
        `code-creation,JS,12,${micros - 10},0x${at}${index}f,1,${name} /app/a.js:${at}:1,0x5${at},*`,
        `code-deopt,${micros},1,0x${at}${index}f,-1,5,deopt-eager,</app/a.js:${at}:9>,wrong map`,
      ]),
    ];
    const events = [
      ...lines('once', 1, [100]),
      ...lines('loops', 2, [200, 300, 400]),
      ...lines('goesOn', 3, [500, 900_000, 950_000]),
    ].map((line) => parseLogLine(line)!);
    const { functions } = analyse({
      events,
      loadBeganMicros: 10_000,
      maps: new SourceMaps(),
      folder: '/app',
    });
    const facts = Object.fromEntries(
      functions.map(({ name, isLoop, isStillGoing, now }) => [name, { isLoop, isStillGoing, now }]),
    );
    assert.deepEqual(facts, {
      once: { isLoop: false, isStillGoing: false, now: 'ignition' },
      loops: { isLoop: true, isStillGoing: false, now: 'ignition' },
      goesOn: { isLoop: true, isStillGoing: true, now: 'ignition' },
    });
    assert.equal(functions[0]!.sites[0]!.times, 3);
  });

  test('explains the reasons that come most often', () => {
    for (const reason of ['wrong map', 'not a Smi', 'out of bounds', 'overflow', '(unknown)']) {
      assert.ok(explain(reason), reason);
    }
    assert.equal(explain('something new'), undefined);
  });
});
