import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Answer } from '../src/answer/answer.ts';
import { seal, unseal } from '../src/answer/seal.ts';
import { Unsealed } from '../src/answer/unsealed.ts';

function sealed(json: string, head: string): string {
  const facts = { head, madeAt: 1, freshMs: 2, costMs: 3, tags: ['t'], versions: [4] };
  return seal(new Answer(json, facts, 'made'));
}

describe('Unsealed', () => {
  it('gives what unseal gives, for each value that is under a key', () => {
    const unsealed = new Unsealed();
    const values = [
      sealed('{"a":1}', '{"status":203}'),
      sealed('{"a":1}', ''),
      seal('1'),
      '2',
      'no',
    ];
    for (const raw of [...values, ...values.toReversed()])
      for (let times = 0; times < 2; times++)
        assert.deepEqual(unsealed.of('key', raw), unseal(raw), JSON.stringify(raw));
  });

  it('reads a value once for as long as it is the same, and each key for itself', () => {
    const unsealed = new Unsealed();
    const [one, other] = [sealed('1', 'one'), sealed('2', 'other')];
    const first = unsealed.of('one', one);
    assert.notEqual(unsealed.of('other', other), first);
    assert.equal(unsealed.of('one', one), first);
    assert.deepEqual(unsealed.of('one', other), unseal(other));
  });

  it('forgets the first of very many', () => {
    const unsealed = new Unsealed();
    const raw = sealed('1', '');
    const first = unsealed.of('0', raw);
    for (let i = 1; i <= 2_000; i++) unsealed.of(String(i), raw);
    assert.notEqual(unsealed.of('0', raw), first);
  });

  it('reads a long value once, too', () => {
    const unsealed = new Unsealed();
    const raw = sealed(JSON.stringify('x'.repeat(500_000)), '');
    assert.equal(unsealed.of('key', raw), unsealed.of('key', raw));
  });

  it('forgets the first of some that are very long, and counts what takes its place once', () => {
    const unsealed = new Unsealed();
    const raw = sealed(JSON.stringify('x'.repeat(500_000)), '');
    const first = unsealed.of('0', raw);
    for (let i = 1; i <= 100; i++)
      unsealed.of('1', sealed(JSON.stringify('y'.repeat(500_000)), ''));
    assert.equal(unsealed.of('0', raw), first);
    for (let i = 1; i <= 20; i++) unsealed.of(String(i), raw);
    assert.notEqual(unsealed.of('0', raw), first);
  });

  it('keeps none that would leave no room for others', () => {
    const unsealed = new Unsealed();
    const raw = sealed(JSON.stringify('x'.repeat(2_000_000)), '');
    assert.notEqual(unsealed.of('key', raw), unsealed.of('key', raw));
  });
});
