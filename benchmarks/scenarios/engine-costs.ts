// The cost of the engine's stored responses: of their log line with its hand-over, and of the store for a GET whose response
// is not in it.
import { mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from '@redline/lab';
import { browserHeaders, product } from '../requests.ts';

const contender = (file: string): string => join(import.meta.dirname, '../contenders', file);
const folder = mkdtempSync(join(tmpdir(), 'redline-bench-engine-costs-'));
const log = join(folder, 'lines.log');
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

export default defineConfig({
  name: 'engine-costs',
  title: 'What stored responses cost',
  requests: [{ path: '/', headers: browserHeaders }],
  precision: { restarts: 8, blocks: 4, sliceMs: 100, warmupMs: 1_500, latencyMs: 100 },
  quick: { restarts: 3, blocks: 4, sliceMs: 100, warmupMs: 1_000, latencyMs: 100 },
  groups: {
    line: { title: 'A stored response, without its line and with it' },
    store: { title: 'A GET whose response is not stored, beside responses that are' },
  },
  variants: [
    ...['without', 'with'].map((lines) => ({
      name: `${lines}/line`,
      group: 'line',
      note: lines === 'with' ? 'lines in a file, 64 KiB at a time' : 'no line is due',
      command: ['node', contender('http-lines.js'), lines],
    })),
    ...[0, 1, 10_000].map((count) => ({
      name: `${count}/store`,
      group: 'store',
      note: `${count} stored responses`,
      command: ['node', contender('http-kept.js'), String(count)],
    })),
  ],

  async setup() {
    const emptying = setInterval(shortenLog, 1_000);
    return { env: { PRODUCT: product, LOG: log }, stop: () => clearInterval(emptying) };
  },
});

/** Truncates the log, which is written to while its server runs. */
function shortenLog(): void {
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  if (size > 64 * 1024 * 1024) truncateSync(log);
}
