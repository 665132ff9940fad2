import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hexOfWord, requestWord } from '../src/native/ids.ts';
import { RingWriter, createRing } from '../src/native/ring-writer.ts';
import { writeAttributes } from '../src/native/values.ts';
import { CHANGE, KIND, LEVEL, RING } from '../src/native/wire.ts';
import { RingReader } from './ring-records.ts';

test('a ring has its layout, its level, and a seed of its own', () => {
  const one = createRing(1024, LEVEL.FACTS);
  const other = createRing(1024);
  assert.equal(one.length, RING.FIRST_RECORD + 1024);
  assert.equal(one[RING.VERSION], RING.LAYOUT);
  assert.equal(one[RING.LEVEL], LEVEL.FACTS);
  assert.equal(other[RING.LEVEL], LEVEL.HEADS);
  const seed = (ring: Uint32Array): number[] => Array.from(ring.subarray(RING.SEED, RING.SEED + 6));
  assert.notDeepEqual(seed(one), seed(other));
  assert.equal(new Set(seed(one)).size, 6);
  assert.equal(one.slice(RING.SEED + 6, RING.FIRST_RECORD).filter(Boolean).length, 0);
  assert.throws(() => createRing(1000), /must be a power of two, 1024 or more; got 1000/);
});

test('the ids of a request are those of ids.rs', () => {
  const ring = createRing(1024);
  ring.set([1, 2, 3, 4, 5, 6], RING.SEED);
  const word = (index: number): string => hexOfWord(requestWord(ring, index, 7, 2, 40));
  assert.equal([0, 1, 2, 3].map(word).join(''), '5a77181faa37ae452490e1a1c0b64c3a');
  assert.equal([4, 5].map(word).join(''), 'b81f32b9ae4bfe7c');
});

/** Writes a change that sets one attribute. */
function put(writer: RingWriter, key: string, value: unknown): void {
  do {
    writer.start(KIND.CHANGE);
    for (const word of [1, 2, 3, CHANGE.ATTRIBUTES]) writer.word(word);
    writeAttributes(writer, [key, value]);
  } while (writer.finish());
}

function ringPair(
  size = 1024,
  wake: () => void = () => {},
): { writer: RingWriter; reader: RingReader } {
  const ring = createRing(size);
  return { writer: new RingWriter(ring, wake), reader: new RingReader(ring) };
}

const texts = [
  '',
  'a',
  'abcd',
  'abcde',
  'ä',
  'abc€',
  '\u0000\u007f\u0080',
  '€😀',
  '\ud800',
  'x'.repeat(15),
  'x'.repeat(16),
  'x'.repeat(17),
  `${'x'.repeat(15)}é`,
  'é'.repeat(100),
];

test('texts arrive as UTF-8, by their bytes and by their number', () => {
  const { writer, reader } = ringPair(4096);
  for (const text of texts) {
    put(writer, text, text);
    put(writer, text, text);
    const expected = Buffer.from(text).toString();
    const change = { attributes: [{ key: expected, value: { stringValue: expected } }] };
    assert.deepEqual(
      reader.changes().map((each) => each.change),
      [change, change],
    );
  }
  assert.equal(reader.texts.size, texts.length - 1, 'the empty text has no number');
});

test('values of all kinds arrive', () => {
  const { writer, reader } = ringPair(4096);
  const values = [
    [0, { intValue: 0 }],
    [-1, { intValue: -1 }],
    [2 ** 31, { intValue: 2 ** 31 }],
    [2 ** 32 + 5, { intValue: 2 ** 32 + 5 }],
    [-(2 ** 40) - 3, { intValue: -(2 ** 40) - 3 }],
    [Number.MAX_SAFE_INTEGER, { intValue: Number.MAX_SAFE_INTEGER }],
    [Number.MIN_SAFE_INTEGER, { intValue: Number.MIN_SAFE_INTEGER }],
    [-(2 ** 63), { intValue: -(2 ** 63) }],
    [2 ** 63, { doubleValue: 2 ** 63 }],
    [0.5, { doubleValue: 0.5 }],
    [-Infinity, { doubleValue: -Infinity }],
    [NaN, { doubleValue: NaN }],
    [true, { boolValue: true }],
    [false, { boolValue: false }],
    [null, {}],
    [Buffer.from([1, 2, 255]), { bytesValue: 'AQL/' }],
    [['a', null, 1], { arrayValue: { values: [{ stringValue: 'a' }, {}, { intValue: 1 }] } }],
    [
      { a: { b: [] } },
      {
        kvlistValue: {
          values: [
            {
              key: 'a',
              value: {
                kvlistValue: { values: [{ key: 'b', value: { arrayValue: { values: [] } } }] },
              },
            },
          ],
        },
      },
    ],
  ] as const;
  for (const [value, expected] of values) {
    put(writer, 'key', value);
    assert.deepEqual(reader.changes()[0]?.change, {
      attributes: [{ key: 'key', value: expected }],
    });
  }
});

test('records of all lengths arrive in order, also over the end of the memory and of the numbers', () => {
  const ring = createRing(1024);
  // Positions are modulo 2^32.
  const start = 2 ** 32 - 3000;
  ring[RING.WRITTEN] = start;
  ring[RING.TAKEN] = start;
  const writer = new RingWriter(ring, () => {});
  const reader = new RingReader(ring);
  let sent = 0;
  let received = 0;
  for (let round = 0; round < 2000; round++) {
    put(writer, `key ${round % 7}`, 'x'.repeat((round * 13) % 300));
    sent++;
    if (round % 3 !== 0) continue;
    for (const { change } of reader.changes()) {
      const text = 'x'.repeat((received * 13) % 300);
      const attributes = [{ key: `key ${received % 7}`, value: { stringValue: text } }];
      assert.deepEqual(change, { attributes });
      received++;
    }
  }
  assert.equal(received + reader.changes().length, sent);
  assert.equal(reader.lost, 0);
});

test('a record that does not fit is counted, and dropped whole', () => {
  const { writer, reader } = ringPair();
  put(writer, 'known', 1);
  put(writer, 'big', 'x'.repeat(2000));
  assert.equal(reader.lost, 1, 'a record has at most a quarter of the ring');
  put(writer, 'known', 'x'.repeat(900));
  put(writer, 'known', 'x'.repeat(900));
  put(writer, 'known', 'x'.repeat(900));
  put(writer, 'known', 'x'.repeat(900));
  put(writer, 'known', 'x'.repeat(900));
  assert.equal(reader.lost, 2);
  const lengths = (): unknown[] =>
    reader.changes().map(({ change }) => JSON.stringify(change).length > 900);
  assert.deepEqual(lengths(), [false, true, true, true, true]);
  put(writer, 'known', 2);
  assert.deepEqual(lengths(), [false]);
});

test('a text of a lost record gets no number', () => {
  const { writer, reader } = ringPair();
  put(writer, 'new', 'x'.repeat(2000));
  put(writer, 'other', 1);
  put(writer, 'new', 1);
  put(writer, 'new', 2);
  assert.equal(reader.changes().length, 3);
  assert.deepEqual(
    [...reader.texts],
    [
      [1, 'other'],
      [2, 'new'],
    ],
  );
});

test('at most 4,096 texts have a number', () => {
  const { writer, reader } = ringPair(65_536);
  for (let number = 0; number < 5000; number++) {
    put(writer, `key ${number}`, number);
    const [change] = reader.changes();
    assert.deepEqual(change?.change, {
      attributes: [{ key: `key ${number}`, value: { intValue: number } }],
    });
  }
  assert.equal(reader.texts.size, 4096);
});

test('a sleeping reader is woken once a quarter is full', () => {
  let woken = 0;
  const { writer, reader } = ringPair(1024, () => woken++);
  const { ring } = reader;
  Atomics.store(ring, RING.SLEEPS, 1);
  put(writer, 'a', 'x'.repeat(400));
  assert.equal(woken, 0);
  put(writer, 'a', 'x'.repeat(700));
  assert.equal(woken, 1);
  assert.equal(Atomics.load(ring, RING.SLEEPS), 0);
  put(writer, 'a', 'x'.repeat(700));
  assert.equal(woken, 1, 'it is awake');
});

test('routes have numbers', () => {
  const { writer, reader } = ringPair();
  assert.ok(writer.route(1, '/users/:id'));
  assert.deepEqual(reader.read(), [{ record: 'route', number: 1, pattern: '/users/:id' }]);
});
