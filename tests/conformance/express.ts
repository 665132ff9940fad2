// Express's own tests, whole, with every server of theirs on the engine.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { engine } from '@redline/http';
import { installedCopy } from './installed-copy.ts';

/** The report of mocha's reporter "json". */
interface Report {
  stats: { passes: number; failures: number; pending: number };
  failures: { fullTitle: string; err: { message: string } }[];
}

/** There were 1,238 in 5.2.1. Far fewer have not run. */
const AT_LEAST = 1000;
const LONGEST_MS = 300_000;

export async function run(folder: string, filter?: string): Promise<boolean> {
  const serving = engine();
  if (serving.name === 'node') {
    console.log(`express: skipped, ${serving.reason}`);
    return true;
  }
  const began = performance.now();
  await using copy = await installedCopy(join(folder, 'express'), ['eslint', 'nyc']);
  const { stats, failures } = await mocha(copy.folder, filter);
  for (const { fullTitle, err } of failures) console.log(`express: ${fullTitle}: ${err.message}`);
  const seconds = Math.round((performance.now() - began) / 1000);
  const counts = `${stats.passes} pass, ${stats.pending} skip themselves, ${stats.failures} fail`;
  console.log(`express: ${counts}, in ${seconds} s`);
  return stats.failures === 0 && stats.passes >= (filter === undefined ? AT_LEAST : 1);
}

async function mocha(folder: string, filter: string | undefined): Promise<Report> {
  const report = join(folder, 'report.json');
  const args = [
    'node_modules/mocha/bin/mocha.js',
    '--require',
    'test/support/env',
    '--check-leaks',
  ];
  args.push('--reporter', 'json', '--reporter-option', `output=${report}`);
  if (filter !== undefined) args.push('--fgrep', filter);
  args.push('test/', 'test/acceptance/');
  const preload = `--import=${import.meta.resolve('@redline/http/register')}`;
  const env = { ...process.env, NODE_OPTIONS: preload };
  try {
    await promisify(execFile)(process.execPath, args, {
      cwd: folder,
      env,
      timeout: LONGEST_MS,
      // The reporter prints its report as well.
      maxBuffer: 2 ** 26,
    });
  } catch (error) {
    // Its exit code counts the failures; without a report it has not come to an end.
    const { stderr } = error as { stderr?: string };
    const text = await readFile(report, 'utf8').catch(() => undefined);
    if (text === undefined)
      throw new Error(`express: mocha has no report\n${stderr}`, { cause: error });
  }
  return JSON.parse(await readFile(report, 'utf8')) as Report;
}
