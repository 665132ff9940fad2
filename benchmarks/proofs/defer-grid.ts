// Runs the article's whole grid within a time limit:
// `npm run bench -- defer-grid [--minutes N] [--restarts N] [--only CELL,…] [--json FILE] [--fresh]`. Every cell is started
// once before any is started a second time, so that a run that is cut short has all cells, with fewer restarts. Each restart
// is stored once measured, and the next run continues after it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import type { BenchResult } from '@redline/lab';
import config from '../defer-grid/redline.config.ts';
import { joinRestarts } from '../defer-grid/grid-result.ts';
import { writeResult } from '../write-result.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    restarts: { type: 'string', default: '3' },
    only: { type: 'string' },
    json: { type: 'string' },
    fresh: { type: 'boolean', default: false },
  },
});
const folder = join(import.meta.dirname, '../../redline-out/defer-grid');
const configFile = relative('.', join(import.meta.dirname, '../defer-grid/redline.config.ts'));
const cells = chooseCells(values.only);
const restarts = toCount('restarts', values.restarts);
const limitMs = toCount('minutes', values.minutes) * 60_000;
const startedAt = Date.now();

if (values.fresh) rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
let longestMs = 0;
let failed = 0;
for (const { file, cell, restart } of missing()) {
  const spentMs = Date.now() - startedAt;
  if (spentMs + longestMs > limitMs) {
    process.stdout.write('The time is up: the same command goes on from here.\n');
    break;
  }
  process.stdout.write(`${cell}, restart ${restart} of ${restarts}\n`);
  const isMeasured = await measure(cell, file);
  longestMs = Math.max(longestMs, Date.now() - startedAt - spentMs);
  if (isMeasured) writeGrid();
  else failed++;
}
if (failed > 0) {
  process.stderr.write(`${failed} restarts failed: the same command measures them.\n`);
  process.exitCode = 1;
}

interface Restart {
  cell: string;
  restart: number;
  file: string;
}

function allRestarts(): Restart[] {
  const numbers = Array.from({ length: restarts }, (_, index) => index + 1);
  return numbers.flatMap((restart) =>
    cells.map((cell) => ({ cell, restart, file: join(folder, `${cell}-${restart}.json`) })),
  );
}

function missing(): Restart[] {
  return allRestarts().filter(({ file }) => !existsSync(file));
}

/** Runs a separate bench, whose file appears only when it is complete. */
async function measure(cell: string, file: string): Promise<boolean> {
  const names = config.variants.flatMap(({ name, group }) => (group === cell ? name : []));
  const args = ['bench', configFile, '--only', names.join(','), '--json', `${file}.part`];
  const child = spawn('redline', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const stop = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const [code] = (await once(child, 'exit')) as [number | null];
  process.off('SIGINT', stop).off('SIGTERM', stop);
  if (code === 130 || code === null) process.exit(130);
  if (code !== 0) return false;
  renameSync(`${file}.part`, file);
  return true;
}

function writeGrid(): void {
  if (values.json === undefined) return;
  const parts = allRestarts()
    .filter(({ file }) => existsSync(file))
    .map(({ file }): BenchResult => JSON.parse(readFileSync(file, 'utf8')));
  writeResult(values.json, joinRestarts(parts));
}

function chooseCells(only: string | undefined): string[] {
  const known = Object.keys(config.groups!);
  const asked = only?.split(',') ?? known;
  const unknown = asked.find((cell) => !known.includes(cell));
  if (unknown === undefined) return asked;
  throw new Error(`Unknown cell "${unknown}". Known cells: ${known.join(', ')}.`);
}

function toCount(option: string, text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new Error(`The option --${option} must be a whole number above 0; got ${text}.`);
}
