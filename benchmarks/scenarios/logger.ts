// One JSON line for each response of a Nest app: nestjs-pino, pino-http, Fastify's own logger, pino on three kinds of
// destination, winston, and ours. Losses at the end of a process are measured by another program:
// `npm run bench -- logger-loss`.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineConfig } from '@redline/lab';
import {
  loggerNotes,
  loggerServer,
  loggersOn,
  readLines,
  readLog,
} from '../contenders/logger-variants.ts';
import { obtainLoggers } from '../contenders/obtain.ts';
import { browserHeaders, product } from '../requests.ts';

const frameworks = { fastify: 'Nest on Fastify', express: 'Nest on Express' } as const;
type Framework = keyof typeof frameworks;
const folder = mkdtempSync(join(tmpdir(), 'redline-bench-logger-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

export default defineConfig({
  name: 'logger',
  title: 'One JSON line for each response',
  requests: [{ path: '/', headers: browserHeaders }],
  load: { connections: 64, openLoopRps: 1_000 },
  precision: { restarts: 5, blocks: 2, sliceMs: 200, warmupMs: 1_000, latencyMs: 200 },
  quick: { restarts: 4, blocks: 2, sliceMs: 150, warmupMs: 500, latencyMs: 100 },
  groups: Object.fromEntries(
    Object.entries(frameworks).map(([framework, title]) => [
      framework,
      { title, baseline: `${framework}/none` },
    ]),
  ),
  variants: (Object.keys(frameworks) as Framework[]).flatMap((framework) =>
    loggersOn(framework).map((logger) => ({
      name: `${framework}/${logger}`,
      note: loggerNotes[logger]!,
      group: framework,
      command: ['node', loggerServer, framework, logger],
      ...(framework === 'fastify' ? {} : { quick: false as const }),
    })),
  ),

  async setup() {
    const missing = await obtainLoggers();
    const skip =
      missing === undefined
        ? {}
        : Object.fromEntries(
            Object.keys(frameworks).map((framework) => [`${framework}/winston`, missing]),
          );
    return { env: { PRODUCT: product, LOG_FOLDER: folder }, skip };
  },

  /** Checks that each request has one line that parses; lines still in a buffer may be missing. */
  async verify(server) {
    const { name, url } = server;
    const [framework, logger] = name.split(' ', 1)[0]!.split('/') as [Framework, string];
    const count = 100;
    for (let number = 0; number < count; number++) {
      await (await fetch(`${url}/?n=${number}`)).text();
    }
    const read = () =>
      readLines(logger === 'redline-stdout' ? server.stdout() : readLog(folder, framework, logger));
    if (logger === 'none') {
      assert.equal((await read()).numbers.length, 0, `${name} writes lines`);
      return;
    }
    const least = count - 4_096 / 100;
    for (let waited = 0; (await read()).numbers.length < least && waited < 10_000; waited += 50) {
      await sleep(50);
    }
    const { numbers, bytesPerLine } = await read();
    assert.ok(numbers.length >= least, `${name} wrote ${numbers.length} lines of ${count}`);
    assert.equal(new Set(numbers).size, numbers.length, `${name} writes lines twice`);
    assert.ok(bytesPerLine > 100, `${name} writes ${bytesPerLine} bytes`);
  },
});
