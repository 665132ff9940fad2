import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeBatch, encodeBatch, kind, type Message } from '../../src/pool/messages.ts';
import { encodeFrames, FrameDecoder } from '../../src/pool/frames.ts';

const messages: Message[] = [
  [kind.ready, 0, undefined],
  [kind.stdout, 2 ** 32 - 1, Buffer.from([0, 1, 255])],
  [kind.exit, 7, [null, 'SIGTERM']],
  [kind.stderr, 8, Buffer.alloc(70_000, 5)],
  [kind.stdout, 9, Buffer.alloc(0)],
  [kind.spawned, 10, 4_711],
];

describe('messages survive', () => {
  for (const size of [1, 8, 9, 10, 4_096, 1_000_000]) {
    test(`as frames cut into pieces of ${size} bytes`, () => {
      const wire = Buffer.concat(encodeFrames(messages));
      const received: Message[] = [];
      const decoder = new FrameDecoder((...message) => received.push(message));
      for (let at = 0; at < wire.length; at += size) {
        decoder.write(Buffer.from(wire.subarray(at, at + size)));
      }
      assert.deepEqual(received, messages);
    });
  }

  test('not, when they are longer than the limit', () => {
    const decoder = new FrameDecoder(() => assert.fail('taken'), 256);
    const head = Buffer.concat(encodeFrames([[kind.stdout, 1, Buffer.alloc(5000)]])).subarray(0, 9);
    assert.throws(() => decoder.write(head), { message: 'A frame of 5000 bytes is too long.' });
  });

  test('as JSON, which knows no bytes', () => {
    const wire = JSON.parse(JSON.stringify(encodeBatch(messages, 'json')));
    const received: Message[] = [];
    decodeBatch(wire, (...message) => received.push(message));
    // JSON has no undefined in an array.
    assert.deepEqual(received, [[kind.ready, 0, null], ...messages.slice(1)]);
  });
});
