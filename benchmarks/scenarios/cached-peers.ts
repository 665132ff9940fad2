// A thousand cached products, each response with a log line: caching proxies, other runtimes in front of Redis, and ours.
// Variants are named CONTENDER/GROUP; each is charged with the CPU of all its processes, its own Redis included.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineConfig, type LoadConfig, type RequestConfig } from '@redline/lab';
import { obtainPeers, peers } from '../contenders/peers.ts';
import { browserHeaders, product } from '../requests.ts';
import { zipf } from '../zipf.ts';

const program = join(import.meta.dirname, '../contenders/cached-peers/peer.js');
const count = 1_000;
/** Tries of 50 ms each. */
const maxTries = 400;
const pathOf = (id: number): string => `/products/${id}`;

/** Returns the headers of a request, by the number of its draw. */
type HeadersOf = (draw: number) => Record<string, string>;

interface Group {
  title: string;
  headersOf: HeadersOf;
  contenders: string[];
  load?: LoadConfig;
}

const VARIED = 'headers of browsers that differ each time';

/** Contenders by group. Few at a time: those of a group are interleaved, and each restart takes half a minute. */
const groups: Record<string, Group> = {
  proxies: {
    title: `proxies that cache; ${VARIED}`,
    headersOf: variedHeaders,
    contenders: ['redline-engine', 'nginx', 'haproxy', 'varnish'],
  },
  runtimes: {
    title: `other runtimes in front of Redis; ${VARIED}`,
    headersOf: variedHeaders,
    contenders: ['redline-engine', 'axum-default', 'axum-tuned', 'go-redis', 'rueidis', 'bun'],
  },
  javascript: {
    title: `hits in JavaScript beside axum; ${VARIED}`,
    headersOf: variedHeaders,
    contenders: ['axum-default', 'redline-memory', 'redline-redis', 'fastify-ioredis'],
  },
  minimal: {
    title: 'no header but Host',
    headersOf: () => ({}),
    contenders: ['redline-engine', 'nginx', 'haproxy', 'axum-default'],
  },
  threads: {
    title: `one thread and two, on cores that they share with the load; ${VARIED}`,
    headersOf: variedHeaders,
    contenders: ['redline-engine', 'redline-threads'],
    load: { pin: false },
  },
};

const folder = mkdtempSync(join(tmpdir(), 'redline-bench-peers-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

export default defineConfig({
  name: 'cached-peers',
  title: 'Cached products, a line for each response',
  // The sender of the open loop is Node: above this rate it would measure itself.
  load: { connections: 64, openLoopRps: 1_000 },
  precision: { restarts: 5, blocks: 2, sliceMs: 200, warmupMs: 3_000, latencyMs: 200 },
  quick: { restarts: 4, blocks: 2, sliceMs: 150, warmupMs: 1_500, latencyMs: 100 },
  groups: Object.fromEntries(
    Object.entries(groups).map(([group, { title, headersOf, load }]) => {
      const requests = zipf(count, 4_096).map((id, draw): RequestConfig => ({
        path: pathOf(id),
        headers: headersOf(draw),
      }));
      const whole = `A thousand products by the law of Zipf, ${title}`;
      return [group, { title: whole, requests, ...(load && { load }) }];
    }),
  ),
  variants: Object.entries(groups).flatMap(([group, { contenders }]) =>
    contenders.map((name) => ({
      name: `${name}/${group}`,
      note: peers[name]!.note,
      group,
      command: ['node', program, name],
      ...(group === 'proxies' ? {} : { quick: false as const }),
    })),
  ),

  async setup() {
    const { programs, env, missing } = await obtainPeers();
    const skip = Object.keys(groups).flatMap((group) =>
      Object.entries(missing).map(([name, reason]) => [`${name}/${group}`, reason]),
    );
    const origin = await startOrigin();
    const emptying = setInterval(removeLongLogs, 5_000);
    return {
      env: {
        ...env,
        PRODUCT: product,
        ORIGIN: origin.address,
        PEERS_FOLDER: folder,
        PROGRAMS: JSON.stringify(programs),
      },
      skip: Object.fromEntries(skip),
      stop() {
        clearInterval(emptying);
        origin.stop();
      },
    };
  },

  /** Checks that each product is the same everywhere, that each request has one line, and that no cached product is fetched. */
  async verify({ name, url }) {
    const log = join(folder, `${new URL(url).port}.log`);
    const linesOf = (word: string): Set<string> =>
      new Set(readOrEmpty(log).match(new RegExp(`${word}-\\d+(?=")`, 'g')));
    const ask = async (id: number, as: string): Promise<string> => {
      const response = await fetch(url + pathOf(id), { headers: { 'X-Request-Id': as } });
      return response.text();
    };
    await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const id = index + 1;
        assert.equal(await ask(id, `fill-${id}`), productOf(id), `${name}, product ${id}`);
      }),
    );
    // Each contender is checked once per run: most of them delay their lines for a second.
    const contender = name.split('/', 1)[0]!;
    if (verified.has(contender)) return;
    verified.add(contender);
    // A program that writes the lines next to its server may not be up yet.
    for (let tries = 1; linesOf('hello').size === 0; tries++) {
      assert.ok(tries <= maxTries, `${name} writes no line`);
      await ask(1, `hello-${tries}`);
      await sleep(50);
    }
    const askedBefore = askedOfOrigin;
    const checked = 200;
    for (let id = 1; id <= checked; id++) await ask(id, `check-${id}`);
    assert.equal(askedOfOrigin, askedBefore, `${name} asks its origin for what it has`);
    for (let tries = 1; linesOf('check').size < checked && tries <= maxTries; tries++) {
      await sleep(50);
    }
    const all = readOrEmpty(log).match(/check-\d+(?=")/g) ?? [];
    assert.equal(linesOf('check').size, checked, `${name} writes too few lines`);
    assert.equal(all.length, checked, `${name} writes lines twice`);
  },
});

/**
 * Deletes long logs; the verified ones are short. A deleted log is written to while its server runs, and frees its space
 * afterwards.
 */
function removeLongLogs(): void {
  for (const file of readdirSync(folder).filter((each) => each.endsWith('.log'))) {
    const log = join(folder, file);
    if (statSync(log).size > 16 * 1024 * 1024) rmSync(log);
  }
}

let askedOfOrigin = 0;
const verified = new Set<string>();

/** Starts the origin server of the proxies. */
async function startOrigin(): Promise<{ address: string; stop: () => void }> {
  const server = createServer((request, response) => {
    askedOfOrigin++;
    const body = productOf(Number(/\d+$/.exec(request.url!)?.[0]));
    response
      .writeHead(200, {
        'Content-Type': 'application/json; charset=utf-8',
        'Cache-Control': 'max-age=3600',
        'Content-Length': Buffer.byteLength(body),
      })
      .end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

const productOfAll = JSON.parse(product) as object;

function productOf(id: number): string {
  return JSON.stringify({ ...productOfAll, id });
}

/** Returns ten headers of browsers behind a proxy; at least one is new in each request. */
function variedHeaders(draw: number): Record<string, string> {
  // Removed, because `Cache-Control: no-cache` bypasses the cache, which is not measured here.
  const { 'Cache-Control': _, ...headers } = browserHeaders;
  return {
    ...headers,
    Cookie: `session=${(draw * 2_654_435_761).toString(16)}; theme=dark; consent=necessary`,
    Referer: `https://shop.example/furniture/desks?page=${draw % 97}`,
    'User-Agent': `Mozilla/5.0 (X11; Linux x86_64; rv:${100 + (draw % 41)}.0) Gecko/20100101 Firefox/${100 + (draw % 41)}.0`,
    'X-Forwarded-For': `203.0.113.${draw % 251}, 198.51.100.2`,
    'X-Request-Id': '{{uuid}}',
  };
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
