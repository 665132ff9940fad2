import assert from 'node:assert/strict';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { ask } from '../ask.ts';
import { anyNumber, type Check, isType } from '../check.ts';
import { items } from '../dataset.ts';

const profiles = ['json-comp'];

interface Selection {
  readonly count: number;
  readonly m: number;
}

const anySelection = (least: number): Selection => ({
  count: anyNumber(least, items.length),
  m: anyNumber(2, 97),
});

async function expectItems(port: number, { count, m }: Selection, encodings = ''): Promise<void> {
  const headers = encodings === '' ? {} : { 'Accept-Encoding': encodings };
  const response = await ask(port, { path: `/json/${count}?m=${m}`, headers });
  assert.equal(response.status, 200);
  const { 'content-type': type, 'content-encoding': encoding } = response.headers;
  assert.ok(isType(type, 'application/json'), `its type is ${type}`);
  const wanted: (string | undefined)[] = encodings === '' ? [undefined] : encodings.split(', ');
  assert.ok(wanted.includes(encoding), `it has the encoding ${encoding}`);
  assert.deepEqual(JSON.parse(decoded(response.body, encoding)), {
    items: items
      .slice(0, count)
      .map((item) => ({ ...item, total: item.price * item.quantity * m })),
    count,
  });
}

function decoded(body: Buffer, encoding: string | undefined): string {
  if (encoding === 'br') return brotliDecompressSync(body).toString();
  return (encoding === 'gzip' ? gunzipSync(body) : body).toString();
}

export const json: Check[] = [
  {
    profiles,
    name: 'GET /json/COUNT?m=M has the first items, each with its total, uncompressed',
    run: async (port) => {
      for (let i = 0; i < 4; i++) await expectItems(port, anySelection(1));
    },
  },
  {
    profiles,
    name: 'the same is compressed for who accepts it',
    run: async (port) => {
      // All of them exceed a kilobyte: a compressor may skip smaller ones.
      for (let i = 0; i < 3; i++) await expectItems(port, anySelection(12), 'gzip, br');
    },
  },
];
