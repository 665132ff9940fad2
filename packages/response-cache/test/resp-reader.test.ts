import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RedisError, RespReader, type RespValue } from '../src/wire/resp-reader.ts';

const message = Buffer.from(
  [
    '+OK',
    '$11\r\nnaïve\r\n日',
    '$-1',
    '_',
    ':-42',
    ',1.5',
    '#t',
    '(12345678901234567890',
    '=7\r\ntxt:abc',
    '*3\r\n:1\r\n$0\r\n\r\n*-1',
    '>2\r\n+invalidate\r\n*2\r\n$1\r\na\r\n$2\r\nbc',
    '%1\r\n+proto\r\n:3',
    '*3\r\n*2\r\n*1\r\n+deep\r\n*0\r\n%1\r\n:1\r\n*1\r\n_\r\n:0',
    '~1\r\n+x',
    '-ERR no such thing',
    '!9\r\nNOPE: \r\n\n',
    '>2\r\n+invalidate\r\n_',
    `$70000\r\n${'x'.repeat(70_000)}`,
    '',
  ].join('\r\n'),
);
const expected = [
  'OK',
  'naïve\r\n日',
  null,
  null,
  -42,
  1.5,
  true,
  '12345678901234567890',
  'abc',
  [1, '', null],
  { push: ['invalidate', ['a', 'bc']] },
  ['proto', 3],
  [[['deep'], []], [1, [null]], 0],
  ['x'],
  { error: 'ERR no such thing' },
  { error: 'NOPE: \r\n\n' },
  { push: ['invalidate', null] },
  'x'.repeat(70_000),
];

function read(pieces: Iterable<Buffer>): unknown[] {
  const seen: unknown[] = [];
  const reader = new RespReader({
    onReply: (value: RespValue) =>
      seen.push(value instanceof RedisError ? { error: value.message } : value),
    onPush: (push) => seen.push({ push }),
  });
  const memory = Buffer.alloc(message.length);
  for (const piece of pieces) {
    const length = piece.copy(memory);
    reader.read(memory.subarray(0, length));
    // The next piece is read into the same memory.
    memory.fill('!');
  }
  return seen;
}

function* cut(lengths: () => number): Iterable<Buffer> {
  for (let at = 0; at < message.length;) {
    const length = Math.max(1, lengths());
    yield message.subarray(at, at + length);
    at += length;
  }
}

/* Park and Miller's: a failure comes again. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

describe('RespReader', () => {
  it('reads every kind of value, in one piece', () => {
    assert.deepEqual(read([message]), expected);
  });

  for (const length of [1, 2, 3, 7, 4_096])
    it(`reads them in pieces of ${length} bytes`, () => {
      assert.deepEqual(read(cut(() => length)), expected);
    });

  it('reads them in pieces of any length', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = randomFrom(seed);
      const pieces = cut(() => Math.floor(random() ** 4 * 3_000));
      assert.deepEqual(read(pieces), expected, `seed ${seed}`);
    }
  });

  it('refuses what is not RESP3', () => {
    assert.throws(() => read([Buffer.from('HTTP/1.1 400 Bad Request\r\n')]), RedisError);
    assert.throws(() => read([Buffer.from('+OK\rX')]), RedisError);
    assert.throws(() => read([Buffer.from('$1x\r\n')]), RedisError);
    assert.throws(() => read([Buffer.from('*\r\n')]), RedisError);
    assert.throws(() => read([Buffer.from(':-\r\n')]), RedisError);
  });
});
