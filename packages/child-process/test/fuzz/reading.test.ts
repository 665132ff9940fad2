import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { collectedBytes, read, share } from './reading.ts';

describe('what exec has collected', () => {
  test('is compared if no other reads that output, however much it is', () => {
    assert.equal(JSON.stringify(collectedBytes(new PassThrough(), 5000, 'digest')), '"digest"');
  });

  test('is not compared if another has read much of it by the end', async () => {
    const [output, others] = [new PassThrough(), new PassThrough()];
    share(output, others, true);
    read(others, 9, { name: '0', log: {} });
    const collected = collectedBytes(output, 1, 'digest');
    assert.equal(JSON.stringify(collected), '"digest"');
    others.end(Buffer.alloc(1000));
    await once(others, 'end');
    assert.equal(JSON.stringify(collected), '"many bytes"');
  });
});
