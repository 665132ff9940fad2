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

  for (const { name, open, notOn, ...rest } of corpus as Known[]) {
    test(name, { todo: open ?? false, skip: notOn === major }, async () => {
      const of: Case = { cuts: [], ending: 'wait', ...rest };
      const [theirs, ours] = await started;
      const contestants = { node: theirs, redline: ours, level: 'wire' as const };
      assert.equal(await compare(of, contestants), undefined);
    });
  }
});
