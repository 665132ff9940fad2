// `npm run bench -- heap-leaks`: counts in how many of twelve leaking apps `redline heap` names the line first that keeps the objects,
// and in how many of twelve others it reports growth. The lines are marked `// leaks here`, which redline does not read. `--app NAME`
// measures one app.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { HeapResult } from '@redline/lab';
import { writeSummary } from '../draws.ts';
import { requireApps } from '../require-apps.ts';

const apps = join(import.meta.dirname, 'heap-apps');
const names = globSync('{leaks,steady}/*.{cjs,mjs,ts}', { cwd: apps }).toSorted();

const { values } = parseArgs({
  options: {
    app: { type: 'string', multiple: true, default: names },
    json: { type: 'string', default: 'redline-out/heap-leaks.json' },
  },
});

interface HeapRun {
  app: string;
  leaks: boolean;
  /** A leak found at its marked line, or no growth reported in an app without one. */
  isRight: boolean;
  verdict: HeapResult['verdict'];
  /** Bytes per 1,000 requests. */
  growth: HeapResult['growth']['held'];
  rss: HeapResult['growth']['rss'];
  explained: number | null;
  expected: string | null;
  sites: Pick<HeapResult['sites'][number], 'place' | 'line' | 'how' | 'bytes'>[];
  requestsPerRound: number;
  seconds: number;
  loadBefore: number;
  warnings: string[];
}

export interface HeapLeaks {
  schema: 1;
  proof: 'heap-leaks';
  machine: object;
  summary: { leaks: number; found: number; steady: number; falseAlarms: number };
  runs: HeapRun[];
}

requireApps(values.app, Object.fromEntries(names.map((name) => [name, true])));
const record: HeapLeaks = existsSync(values.json)
  ? (JSON.parse(readFileSync(values.json, 'utf8')) as HeapLeaks)
  : {
      schema: 1,
      proof: 'heap-leaks',
      machine: {},
      summary: { leaks: 0, found: 0, steady: 0, falseAlarms: 0 },
      runs: [],
    };
const folder = mkdtempSync(join(tmpdir(), 'redline-heap-'));
try {
  for (const name of values.app) {
    const run = await measure(name);
    // The latest run of each app counts.
    record.runs = [...record.runs.filter(({ app }) => app !== name), run].toSorted((a, b) =>
      a.app.localeCompare(b.app),
    );
    record.summary = summaryOf(record.runs);
    writeSummary(values.json, record);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measure(name: string): Promise<HeapRun> {
  const json = join(folder, 'heap.json');
  const loadBefore = loadavg()[0]!;
  const startedAt = performance.now();
  const args = ['heap', 'http://127.0.0.1:28361/', '--json', json, '--out', join(folder, 'out')];
  const child = spawn('redline', [...args, '--', 'node', name], { cwd: apps, stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`redline heap ended with ${code} for ${name}.`);
  const result = JSON.parse(readFileSync(json, 'utf8')) as HeapResult;
  record.machine = result.machine;
  const expected = markedLine(name);
  const leaks = name.startsWith('leaks/');
  const isFound = result.sites[0] !== undefined && lineOf(result.sites[0].place) === expected;
  return {
    app: name,
    leaks,
    isRight: leaks ? result.verdict === 'grows' && isFound : result.verdict === 'steady',
    verdict: result.verdict,
    growth: result.growth.held,
    rss: result.growth.rss,
    explained: result.explained ?? null,
    expected: expected ?? null,
    sites: result.sites.map(({ place, line, how, bytes }) => ({ place, line, how, bytes })),
    requestsPerRound: result.load.requestsPerRound,
    seconds: Math.round((performance.now() - startedAt) / 1_000),
    loadBefore,
    warnings: result.warnings,
  };
}

/** Returns the marked line, such as `leaks/cache.mjs:12`, of the app or of a file it imports. */
function markedLine(name: string): string | undefined {
  const imported = globSync('leaks/lib/*', { cwd: apps });
  const text = readFileSync(join(apps, name), 'utf8');
  const files = [name, ...imported.filter((file) => text.includes(file.split('/').at(-1)!))];
  for (const file of files) {
    const lines = readFileSync(join(apps, file), 'utf8').split('\n');
    const index = lines.findIndex((line) => line.includes('// leaks here'));
    if (index >= 0) return `${file}:${index + 1}`;
  }
  return undefined;
}

/** Removes the column. */
function lineOf(place: string): string {
  return place.replace(/:\d+$/, '');
}

function summaryOf(runs: readonly HeapRun[]): HeapLeaks['summary'] {
  const planted = runs.filter(({ leaks }) => leaks);
  const clean = runs.filter(({ leaks }) => !leaks);
  return {
    leaks: planted.length,
    found: planted.filter(({ isRight }) => isRight).length,
    steady: clean.length,
    falseAlarms: clean.filter(({ isRight }) => !isRight).length,
  };
}
