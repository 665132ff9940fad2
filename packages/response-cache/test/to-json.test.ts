import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { JsonCache } from '../src/cache/json-cache.ts';

const circular: Record<string, unknown> = {};
circular.self = circular;

const refused: Array<[what: string, value: unknown, said: RegExp]> = [
  ['undefined', undefined, /returned undefined/],
  ['a string', '{}', /returned a string/],
  ['a bigint', 1n, /returned a bigint/],
  ['a symbol', Symbol('s'), /returned a symbol/],
  ['a function', () => 1, /returned a function/],
  ['a Buffer', Buffer.from('{}'), /returned a Buffer/],
  ['a typed array', new Uint8Array(2), /returned a Uint8Array/],
  ['an ArrayBuffer', new ArrayBuffer(2), /returned a ArrayBuffer/],
  ['a Node stream', Readable.from(['{}']), /returned a stream \(Readable\)/],
  ['a web stream', new ReadableStream(), /returned a stream \(ReadableStream\)/],
  ['a Response', new Response('{}'), /returned a stream \(Response\)/],
  ['a Blob', new Blob(['{}']), /returned a stream \(Blob\)/],
  ['an async generator', (async function* () {})(), /returned a stream/],
  ['a circular structure', circular, /does not serialise: Converting circular structure/],
  ['a bigint inside', { id: 1n }, /does not serialise: Do not know how to serialize a BigInt/],
  ['a toJSON that gives undefined', { toJSON: () => undefined }, /serialises to nothing/],
];

const taken: Array<[what: string, value: unknown, json: string]> = [
  ['null', null, 'null'],
  ['a number', 0, '0'],
  ['a boolean', false, 'false'],
  ['an empty array', [], '[]'],
  ['an object without prototype', Object.create(null), '{}'],
  ['a Date', new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ['a lone surrogate', ['\ud800'], '["\\ud800"]'],
  ['undefined inside', [undefined, { a: undefined }], '[null,{}]'],
];

describe('What can be cached as JSON', () => {
  for (const [what, value, said] of refused) {
    it(`is not ${what}: an error with a code, that names the answer`, async () => {
      const cache = new JsonCache({ logger: false });
      const asked = cache.answer('/a', () => value, { name: 'GET /a' }) as Promise<string>;
      await assert.rejects(asked, (error: Error & { code?: string }) => {
        assert.equal(error.code, 'ERR_REDLINE_CACHE_NOT_JSON');
        assert.match(error.message, /^The response of GET \/a cannot be cached as JSON: /);
        assert.match(error.message, said);
        return true;
      });
      assert.equal(cache.stats.stores, 0);
    });
  }

  for (const [what, value, json] of taken) {
    it(`is ${what}`, async () => {
      const cache = new JsonCache({ logger: false });
      assert.equal(await cache.answer('/a', () => value), json);
      assert.equal(
        cache.answer('/a', () => assert.fail('not stored')),
        json,
      );
    });
  }

  it('names the key where the answer has no name, and keeps the cause', async () => {
    const cache = new JsonCache({ logger: false });
    await assert.rejects(
      async () => cache.answer('/a?b=1', () => circular),
      (error: Error) =>
        /the key "\/a\?b=1"/.test(error.message) && error.cause instanceof TypeError,
    );
  });

  it('is made by the serializer of the caller, where there is one', async () => {
    const cache = new JsonCache({ logger: false });
    const serialize = (value: unknown): string => JSON.stringify(value, null, 2);
    assert.equal(await cache.answer('/a', () => [1], { serialize }), '[\n  1\n]');
    assert.equal(await cache.answer('/a', () => [2], { serialize }), '[\n  1\n]');
  });
});
