import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { Candidate } from '../../src/doctor/examine.ts';
import { EarlierProofs } from '../../src/doctor/prove/earlier-proofs.ts';
import { resumption } from '../../src/doctor/prove/prove-log.ts';
import type { Proof } from '../../src/doctor/result.ts';

const asked = { commit: 'a', command: ['node', 'app.js'], env: { API_KEY: 'k3y-of-a-service' } };
const gains: Proof = { word: 'gains', cpu: { value: 1.2, low: 1.1, high: 1.3 } };

function change(rule: string, diff: string): Candidate {
  return { finding: { rule, diff, file: 'app.js', line: 7 } as Candidate['finding'], edits: [] };
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

  test('tries again what failed, what could not be measured and what was under way, and says why', (t) => {
    const file = fileFor(t);
    const [measured, failed, withheld, underWay, never] = ['a', 'b', 'c', 'd', 'e'].map((each) =>
      change('node-http', `+ ${each}`),
    ) as [Candidate, Candidate, Candidate, Candidate, Candidate];
    const first = EarlierProofs.open(file, { asked, continues: false });
    first.begin(measured);
    first.add(measured, { word: 'nothing' });
    first.begin(failed);
    const fails: Proof = { word: 'fails', why: '--test "npm test" ended by SIGKILL.' };
    first.add(failed, fails);
    // The run that found it out keeps to it.
    assert.equal(first.whyAgain(failed), undefined);
    first.add(withheld, { word: 'withheld' });
    first.begin(underWay);
    const second = EarlierProofs.open(file, { asked, continues: true });
    const all = [measured, failed, withheld, underWay, never];
    assert.deepEqual(
      all.map((each) => second.of(each)),
      [{ word: 'nothing' }, undefined, undefined, undefined, undefined],
    );
    assert.deepEqual(resumption(all, second), [
      '1 change of 5 measured by an earlier run',
      'node-http at app.js:7 is tried again: it failed: --test "npm test" ended by SIGKILL.',
      'node-http at app.js:7 is tried again: the app differed from itself then',
      'node-http at app.js:7 is tried again: it was under way when the run ended',
    ]);
    // An interruption before it was tried again forgets nothing.
    second.begin(failed);
    const third = EarlierProofs.open(file, { asked, continues: true });
    assert.equal(third.whyAgain(failed), 'it was under way when the run ended');
    third.add(failed, gains);
    assert.deepEqual(EarlierProofs.open(file, { asked, continues: true }).of(failed), gains);
    assert.deepEqual(
      resumption(all, EarlierProofs.open(fileFor(t), { asked, continues: true })),
      [],
    );
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
