// `npm run bench -- top-goaccess`: `redline top` and GoAccess take turns reading a log of 1 GB, a third of its paths with
// unique slugs: seconds, CPU seconds and peak memory of each. --megabytes makes it smaller, --rounds repeats it.
import { spawnSync } from 'node:child_process';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { writeResult } from '../write-result.ts';

const { values } = parseArgs({
  options: {
    megabytes: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '2' },
    json: { type: 'string', default: 'redline-out/top-goaccess.json' },
  },
});

const version = /\d[\d.]*/.exec(spawnSync('goaccess', ['--version']).stdout?.toString() ?? '')?.[0];
if (version === undefined) {
  console.log('Skipped: goaccess is not on PATH; on Debian, apt-get install goaccess.');
  process.exit(0);
}

interface Use {
  seconds: number;
  cpuSeconds: number;
  maxRssMegabytes: number;
}

const folder = mkdtempSync(join(tmpdir(), 'redline-top-'));
try {
  const log = join(folder, 'access.log');
  const lines = await writeLog(log, Number(values.megabytes) * 1e6);
  const readers = {
    redline: [
      process.execPath,
      join(import.meta.dirname, '../../packages/lab/bin/redline.mjs'),
      'top',
      log,
      '--out',
      folder,
    ],
    goaccess: [
      'goaccess',
      log,
      '--no-global-config',
      '--log-format=%h %^[%d:%t %^] "%r" %s %b "%R" "%u" %T',
      '--date-format=%d/%b/%Y',
      '--time-format=%T',
      '-o',
      join(folder, 'goaccess.json'),
    ],
  };
  const runs: Record<keyof typeof readers, Use[]> = { redline: [], goaccess: [] };
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const name of ['redline', 'goaccess'] as const) {
      const use = run(readers[name]);
      runs[name].push(use);
      console.log(
        `${name.padEnd(9)} ${use.seconds.toFixed(1)} s, ${use.cpuSeconds.toFixed(1)} s of CPU, max ${use.maxRssMegabytes.toFixed(0)} MB`,
      );
    }
  }
  const result = {
    schema: 1,
    megabytes: Number(values.megabytes),
    lines,
    goaccess: version,
    node: process.version,
    cpu: cpus()[0]?.model,
    runs,
  };
  writeResult(values.json, result);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Returns the figures of one run, from GNU time: a child that reports its own children would need no other program, but
 * forks.
 */
function run([file, ...args]: string[]): Use {
  const script = `
    const { spawnSync } = require('node:child_process');
    const begin = performance.now();
    const { status, stderr } = spawnSync(process.argv[1], process.argv.slice(2), { stdio: ['ignore', 'ignore', 'pipe'] });
    if (status !== 0) { process.stderr.write(stderr); process.exit(1); }
    const seconds = (performance.now() - begin) / 1000;
    process.stdout.write(JSON.stringify({ seconds }));`;
  const measured = spawnSync(
    '/usr/bin/time',
    ['-f', '%U %S %M', process.execPath, '-e', script, file!, ...args],
    { encoding: 'utf8' },
  );
  if (measured.error !== undefined || measured.status !== 0)
    throw new Error(`${file} failed: ${measured.stderr || String(measured.error)}`);
  const [user, system, kilobytes] = measured.stderr
    .trim()
    .split('\n')
    .at(-1)!
    .split(' ')
    .map(Number);
  const { seconds } = JSON.parse(measured.stdout) as { seconds: number };
  return { seconds, cpuSeconds: user! + system!, maxRssMegabytes: kilobytes! / 1_000 };
}

/** @returns the number of lines */
async function writeLog(file: string, bytes: number): Promise<number> {
  const out = createWriteStream(file);
  const agents = [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15',
  ];
  let written = 0;
  let index = 0;
  while (written < bytes) {
    let text = '';
    for (let count = 0; count < 5_000; count++, index++) {
      const at = new Date(1_795_860_000_000 + index * 5).toISOString();
      const when = `28/Nov/2026:${at.slice(11, 19)} +0000`;
      text += `10.${index % 7}.${index % 250}.${(index >> 8) % 250} - - [${when}] "GET ${pathOf(index)} HTTP/1.1" 200 ${(index * 7) % 90_000} "https://example.com/" "${agents[index % 2]}" ${((index % 900) / 1_000).toFixed(3)}\n`;
    }
    written += text.length;
    if (!out.write(text)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
  return index;
}

function pathOf(index: number): string {
  if (index % 3 === 0) return `/blog/how-to-${index.toString(26).replaceAll(/\d/g, 'x')}-in-node`;
  if (index % 3 === 1) return `/api/users/${index % 90_000}`;
  return ['/api/orders', `/feed?page=${index % 100}`, '/health'][index % 7] ?? '/static/app.js';
}
