import assert from 'node:assert/strict';
import * as node from 'node:http';
import { after, describe, test } from 'node:test';
import * as redline from '../src/index.ts';
import type { HttpModule } from './conformance/engine.ts';
import type { Case } from './fuzz/case.ts';
import { compare } from './fuzz/compare.ts';
import { Contestant } from './fuzz/contestant.ts';
import corpus from './fuzz/corpus.json' with { type: 'json' };

/** `open`: what differs, as long as it does. `notOn`: a Node that does otherwise, see conformance/exceptions.ts. */
type Known = Pick<Case, 'bytes' | 'programs'> &
  Partial<Case> & { name: string; open?: string; notOn?: number };
const major = Number(process.versions.node.split('.')[0]);

/** Found by fuzz/run.ts, which looks for more: `npm run test:differential`. */
describe('a client sees the same of node:http and of the engine:', () => {
  const started = Promise.all([
    Contestant.start(node),
    Contestant.start(redline as unknown as HttpModule),
  ]);
  after(async () => {
    for (const contestant of await started) contestant.stop();
  });

  const known = (corpus as Known[]).map(({ name, open, notOn, ...rest }) => ({
    name,
    options: { todo: open ?? false, skip: notOn === major },
    of: { cuts: [], ending: 'wait', ...rest } as Case,
  }));

  test('a case leaves no connection behind, whatever its handler has paused', async () => {
    const bytes = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
    const programs: Case['programs'] = [[{ do: 'end', bytes: 0 }, { do: 'socketPause' }]];
    for (const contestant of await started) {
      await contestant.run({ bytes, programs, cuts: [], ending: 'wait' });
      while ((await contestant.connections()) > 0) await new Promise(setImmediate);
    }
  });

  for (const { name, options, of } of known) {
    test(name, options, async () => {
      const [theirs, ours] = await started;
      const contestants = { node: theirs, redline: ours, level: 'wire' as const };
      assert.equal(await compare(of, contestants), undefined);
    });
  }

  for (const { name, of } of known.filter((each) => each.name.startsWith('explained: '))) {
    test(`${name}: no excuse for a wrong byte`, async (t) => {
      const [theirs, ours] = await started;
      const { bytes } = await ours.run(of);
      if (bytes === '') return t.skip('the engine sends none');
      const faulty = { run: async () => ({ ...(await ours.run(of)), bytes: garbled(bytes) }) };
      const contestants = { node: theirs, redline: faulty as unknown as Contestant };
      assert.ok(await compare(of, { ...contestants, level: 'wire' }));
    });
  }
});

/** Another last byte. */
function garbled(bytes: string): string {
  return `${bytes.slice(0, -1)}?`;
}
