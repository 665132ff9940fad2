// The only writer of benchmarks/results, in the format of `redline`. `node benchmarks/write-result.ts FILE…` rewrites
// existing files.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { formatResult } from '@redline/lab';

/** Writes atomically: a run of hours rewrites its file repeatedly, and may be killed. */
export function writeResult(file: string, result: object): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, formatResult(result));
  renameSync(`${file}.new`, file);
}

if (import.meta.main)
  for (const file of process.argv.slice(2))
    writeResult(file, JSON.parse(readFileSync(file, 'utf8')) as object);
