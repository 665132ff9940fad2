// A cached response of 8 KB, plain and compressed, from the engine and from the hook, and nginx with a file compressed in advance.
// Variants are named CONTENDER/GROUP; the notes contain the bytes of each body: together with the CPU they show cost and
// size of a response.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  brotliCompressSync,
  brotliDecompressSync,
  constants,
  gunzipSync,
  gzipSync,
} from 'node:zlib';
import { defineConfig } from '@redline/lab';
import { obtainFromDebian, debianEnv } from '../contenders/obtain-debian.ts';

const program = join(import.meta.dirname, '../contenders/compressed-hits.js');
const accept = 'gzip, deflate, br, zstd';
const nginx = await obtainFromDebian('nginx', 'nginx');
const folder = mkdtempSync(join(tmpdir(), 'redline-bench-compressed-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const body = JSON.stringify(
  Array.from({ length: 56 }, (_, index) => ({
    id: 4_711 + ((index * 7_919) % 997),
    name: `Desk ${((index * 104_729) % 46_656).toString(36)}`,
    price: { amount: ((index * 15_485_863) % 90_000) + 1_000, currency: 'EUR' },
    tags: ['furniture', 'office', index % 3 === 0 ? 'walnut' : 'oak'],
    updatedAt: new Date(1_793_600_000_000 + ((index * 32_452_843) % 1e9)).toISOString(),
  })),
);

export default defineConfig({
  name: 'compressed-hits',
  title: 'A cached response of 8 KB, compressed and as it is',
  // The bytes differ by design; verify() decodes and compares them.
  requests: [{ path: '/desks.json', headers: { 'Accept-Encoding': accept }, compare: 'status' }],
  load: { connections: 64 },
  precision: { restarts: 5, blocks: 4, sliceMs: 200, warmupMs: 2_000, latencyMs: 200 },
  quick: { restarts: 4, blocks: 2, sliceMs: 150, warmupMs: 1_000, latencyMs: 100 },
  groups: {
    engine: { title: 'A hit of the engine, 8 KB, compressed and as it is' },
    hook: { title: 'A hit of the hook, 8 KB, compressed and as it is' },
    nginx: { title: 'Compressed hits beside nginx with a compressed file' },
  },
  variants: [
    variant('engine-plain', 'engine'),
    variant('engine-br', 'engine'),
    variant('hook-plain', 'hook'),
    variant('hook-br', 'hook'),
    variant('nginx', 'nginx'),
    variant('engine-br', 'nginx'),
    variant('hook-br', 'nginx'),
  ],

  setup: () => ({
    env: { ...debianEnv(), BODY: body, FOLDER: folder },
    skip: ('missing' in nginx ? { 'nginx/nginx': nginx.missing } : {}) as Record<string, string>,
    stop: () => {},
  }),

  async verify({ name, url }) {
    const coding = codingOf(name.split('/', 1)[0]!);
    for (let tries = 1; ; tries++) {
      const sent = await ask(`${url}/desks.json`);
      // Hits are compressed once a variant is ready.
      if (sent.coding !== coding && tries < 200) {
        await sleep(20);
        continue;
      }
      assert.equal(sent.coding, coding, name);
      const decoders = { br: brotliDecompressSync, gzip: gunzipSync };
      const decode = coding && decoders[coding];
      assert.equal(String(decode ? decode(sent.bytes) : sent.bytes), body, name);
      // The engine has it after two more requests.
      if (tries < 4) continue;
      assert.equal(sent.bytes.length, lengthIn(coding), name);
      return;
    }
  },
});

type Coding = 'br' | 'gzip' | undefined;

function codingOf(contender: string): Coding {
  if (contender === 'nginx') return 'gzip';
  return contender.endsWith('br') ? 'br' : undefined;
}

/** Compresses like the cache and the contenders' program. */
function lengthIn(coding: Coding): number {
  if (coding === undefined) return Buffer.byteLength(body);
  if (coding === 'gzip') return gzipSync(body, { level: 9 }).length;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 5,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: Buffer.byteLength(body),
  };
  return brotliCompressSync(body, { params }).length;
}

interface Variant {
  readonly name: string;
  readonly group: string;
  readonly note: string;
  readonly command: string[];
}

function variant(contender: string, group: string): Variant {
  const [place, what] = contender.split('-') as [string, string | undefined];
  const file = 'file' in nginx ? nginx.file : '';
  const last = place === 'nginx' ? file : what === 'br' ? 'compressed' : 'plain';
  return {
    name: `${contender}/${group}`,
    group,
    note: `${lengthIn(codingOf(contender))} bytes`,
    command: ['node', program, place, last],
  };
}

/** Not fetch(), which would decode the body. */
function ask(url: string): Promise<{ coding: string | undefined; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const request = send(url, { headers: { 'Accept-Encoding': accept } }, async (response) => {
      const pieces: Buffer[] = [];
      for await (const piece of response) pieces.push(piece as Buffer);
      const coding = response.headers['content-encoding'];
      resolve({ coding, bytes: Buffer.concat(pieces) });
    });
    request.on('error', reject).end();
  });
}
