import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { Candidate } from '../../src/doctor/examine.ts';
import { EarlierProofs } from '../../src/doctor/prove/earlier-proofs.ts';
import type { Proof } from '../../src/doctor/result.ts';

const asked = { commit: 'a', command: ['node', 'app.js'], env: { API_KEY: 'k3y-of-a-service' } };
const gains: Proof = { word: 'gains', cpu: { value: 1.2, low: 1.1, high: 1.3 } };

function change(rule: string, diff: string): Candidate {
  return { finding: { rule, diff } as Candidate['finding'], edits: [] };
}

function fileFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'redline-proofs-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'out/proofs.json');
}

describe('an interrupted proof', () => {
  test('goes on with what was measured, as far as the change is the same', (t) => {
    const file = fileFor(t);
    const first = EarlierProofs.open(file, { asked, continues: false });
    first.add(change('node-http', '+ a'), gains);
    first.add(change('node-http', '+ b'), { word: 'withheld' });
    const second = EarlierProofs.open(file, { asked, continues: true });
    assert.equal(second.isContinued, true);
    assert.deepEqual(second.of(change('node-http', '+ a')), gains);
    // Nothing was measured of it.
    assert.equal(second.of(change('node-http', '+ b')), undefined);
    assert.equal(second.of(change('node-http', '+ c')), undefined);
    second.add(change('node-http', '+ c'), gains);
    const third = EarlierProofs.open(file, { asked, continues: true });
    assert.deepEqual(third.of(change('node-http', '+ a')), gains);
    assert.deepEqual(third.of(change('node-http', '+ c')), gains);
    assert.doesNotMatch(readFileSync(file, 'utf8'), /k3y/);
  });

  test('starts again for another commit, without the option, and from a file that cannot be read', (t) => {
    const file = fileFor(t);
    EarlierProofs.open(file, { asked, continues: false }).add(change('x', '+ a'), gains);
    const knows = (of: object, continues: boolean): boolean =>
      EarlierProofs.open(file, { asked: of, continues }).of(change('x', '+ a')) !== undefined;
    assert.equal(knows(asked, true), true);
    assert.equal(knows({ ...asked, commit: 'b' }, true), false);
    assert.equal(knows(asked, false), false);
    writeFileSync(file, '{');
    assert.equal(knows(asked, true), false);
  });
});
