import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Answer } from '../src/answer/answer.ts';
import { encodeEntry, decodeEntry } from '../src/answer/entry-format.ts';
import { DecodedEntries } from '../src/answer/decoded-entries.ts';

function encoded(json: string, head: string): string {
  const facts = { head, madeAt: 1, freshMs: 2, costMs: 3, tags: ['t'], versions: [4] };
  return encodeEntry(new Answer(json, facts, 'made'));
}

describe('DecodedEntries', () => {
  it('gives what decodeEntry gives, for each value that is under a key', () => {
    const entries = new DecodedEntries();
    const values = [
      encoded('{"a":1}', '{"status":203}'),
      encoded('{"a":1}', ''),
      encodeEntry('1'),
      '2',
      'no',
    ];
    for (const raw of [...values, ...values.toReversed()])
      for (let times = 0; times < 2; times++)
        assert.deepEqual(entries.of('key', raw), decodeEntry(raw), JSON.stringify(raw));
  });

  it('reads a value once while it stays the same, and each key separately', () => {
    const entries = new DecodedEntries();
    const [one, other] = [encoded('1', 'one'), encoded('2', 'other')];
    const first = entries.of('one', one);
    assert.notEqual(entries.of('other', other), first);
    assert.equal(entries.of('one', one), first);
    assert.deepEqual(entries.of('one', other), decodeEntry(other));
  });

  it('tells a damaged value from the one that it has read before', () => {
    const entries = new DecodedEntries();
    for (const raw of [
      encodeEntry('{"a":1}'),
      encoded('{"a":1}', ''),
      encodeEntry(JSON.stringify('x'.repeat(20_000))),
    ]) {
      assert.notEqual(entries.of('key', raw), undefined);
      const damaged = `${raw.slice(0, 5)}!${raw.slice(6)}`;
      assert.equal(entries.of('key', damaged), undefined);
      assert.deepEqual(entries.of('key', raw), decodeEntry(raw));
    }
  });

  it('recognises a forgotten value by its checksum, and not one that was cut', () => {
    const entries = new DecodedEntries();
    for (const raw of [encodeEntry('{"a":1}'), encoded('{"a":1}', 'one')]) {
      const kept = entries.of('0', raw);
      for (let i = 1; i <= 20_000; i++) entries.of(String(i), encodeEntry(String(i)));
      assert.deepEqual(entries.of('0', raw), kept);
      for (const key of ['0', 'never seen'])
        assert.equal(entries.of(key, raw.slice(0, 8) + raw.slice(9)), undefined);
    }
  });

  it('trusts the memory of the process, and computes no checksum for it', () => {
    for (const raw of [encodeEntry('{"a":1}'), encoded('{"a":1}', 'one')]) {
      const flipped = `${raw.slice(0, 8)}2${raw.slice(9)}`;
      assert.equal(new DecodedEntries().of('key', flipped), undefined);
      const kept = new DecodedEntries().of('key', flipped, true);
      assert.equal(kept instanceof Object ? kept.json : kept, '{"a":2}');
    }
  });

  it('forgets the first of very many', () => {
    const entries = new DecodedEntries();
    const raw = encoded('1', '');
    const first = entries.of('0', raw);
    for (let i = 1; i <= 4_000; i++) entries.of(String(i), raw);
    assert.notEqual(entries.of('0', raw), first);
  });

  it('reads a long value once, too', () => {
    const entries = new DecodedEntries();
    const raw = encoded(JSON.stringify('x'.repeat(500_000)), '');
    assert.equal(entries.of('key', raw), entries.of('key', raw));
  });

  it('forgets the first of some that are very long, and counts what takes its place once', () => {
    const entries = new DecodedEntries();
    const raw = encoded(JSON.stringify('x'.repeat(500_000)), '');
    const first = entries.of('0', raw);
    for (let i = 1; i <= 100; i++)
      entries.of('1', encoded(JSON.stringify('y'.repeat(500_000)), ''));
    assert.equal(entries.of('0', raw), first);
    for (let i = 1; i <= 400; i++) entries.of(String(i), raw);
    assert.notEqual(entries.of('0', raw), first);
  });

  it('keeps none that would leave no room for others', () => {
    const entries = new DecodedEntries();
    const raw = encoded(JSON.stringify('x'.repeat(2_000_000)), '');
    assert.notEqual(entries.of('key', raw), entries.of('key', raw));
  });
});
