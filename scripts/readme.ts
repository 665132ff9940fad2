// Writes the figures of the READMEs from the committed result files: `npm run readme`. With --check it changes nothing and
// fails if a README differs from its result file.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderSvg } from '@redline/lab';
import { byHandTable } from '../benchmarks/tables/by-hand.ts';
import { cacheHitTable } from '../benchmarks/tables/cache-hit.ts';
import { cachedPeersTables } from '../benchmarks/tables/cached-peers.ts';
import { clusterTable } from '../benchmarks/tables/cluster.ts';
import { compressedHitsTable } from '../benchmarks/tables/compressed-hits.ts';
import { deferChart, rowsOf } from '../benchmarks/tables/defer-chart.ts';
import { eveningText } from '../benchmarks/tables/defer-evening.ts';
import { deferGrid, measuredSinks } from '../benchmarks/tables/defer-grid.ts';
import { counts, sinks } from '../benchmarks/tables/defer-rows.ts';
import { deferShort, deferSummary } from '../benchmarks/tables/defer.ts';
import { doctorProveText } from '../benchmarks/tables/doctor-prove.ts';
import { filesTables } from '../benchmarks/tables/files.ts';
import { firstChart, firstFigure, firstText } from '../benchmarks/tables/first-screen.ts';
import { frameworksSummary, frameworksTables } from '../benchmarks/tables/frameworks.ts';
import { headline } from '../benchmarks/tables/headline.ts';
import { heapLeaksText } from '../benchmarks/tables/heap-leaks.ts';
import { httpTables } from '../benchmarks/tables/http.ts';
import { ladderRun, ladderTable } from '../benchmarks/tables/ladder.ts';
import { legacyTable } from '../benchmarks/tables/legacy.ts';
import { loggerTables } from '../benchmarks/tables/logger.ts';
import { nestTaxTable } from '../benchmarks/tables/nest-tax.ts';
import {
  ciComparedText,
  ciVerdictsText,
  ladderRealText,
  verdictsRealText,
} from '../benchmarks/tables/real-runs.ts';
import { registerText } from '../benchmarks/tables/register.ts';
import { runsOf } from '../benchmarks/tables/runs-by-model.ts';
import { spawnRealTable } from '../benchmarks/tables/spawn-real.ts';
import { spawnSummary, spawnTables } from '../benchmarks/tables/spawn.ts';
import {
  injectionText,
  stairsAsyncText,
  verdictsModelText,
  verdictsText,
} from '../benchmarks/tables/statistics.ts';
import { topTable } from '../benchmarks/tables/top.ts';
import { tryScreen } from '../benchmarks/tables/try-screen.ts';
import { checkedNodesTable } from './checked-nodes-table.ts';
import { lintFixText } from './lint-fix-table.ts';
import { ruleIndex, ruleIndexFile } from './rule-index.ts';
import { evidenceText, mythTable, pageOf, readEvidence, ruleTable } from './rule-tables.ts';
import { zooLine, zooTables } from './zoo-table.ts';

const root = join(import.meta.dirname, '..');
const check = process.argv.includes('--check');
const stale: string[] = [];

const ladder = result('cached-api');
const frameworks = runsOf('frameworks');
const defer = result('defer');
const spawn = result('spawn');
const spawnRuns = {
  sync: result('spawn-sync'),
  close: [result('spawn-echo'), result('spawn-resident')],
};
const first = firstFigure(frameworks);
const screen = tryScreen(result('try'));

/** The texts between `<!-- NAME:start -->` and `<!-- NAME:end -->` of each page. */
const blocks: Record<string, Record<string, string>> = {
  'README.md': {
    first: firstText(first),
    headline: headline({
      ladder,
      frameworks,
      defer,
      spawnEcho: result('spawn-echo'),
      spawnResident: result('spawn-resident'),
      legacy: result('legacy'),
    }),
    ladder: ladderRun(ladder),
    frameworks: frameworksSummary(frameworks),
    defer: deferShort(),
    spawn: spawnSummary(spawn),
    try: screen,
    zoo: zooLine(result('zoo'), 'docs/guide/zoo.md'),
  },
  'examples/cached-api/README.md': {
    ladder: ladderTable(ladder, readJson('benchmarks/article-ladder.json')),
    'by-hand': byHandTable(result('by-hand')),
  },
  'examples/deferred-work/README.md': { grid: deferGrid(result('defer-grid'), 'defer-grid') },
  'examples/legacy-http/README.md': { legacy: legacyTable(result('legacy')) },
  'packages/http/README.md': {
    checked: checkedNodesTable(),
    frameworks: frameworksTables(frameworks),
    http: httpTables(runsOf('http')),
    files: filesTables(result('files')),
    register: registerText(result('register'), '@redline/http/register'),
  },
  'packages/response-cache/README.md': {
    'cache-hit': cacheHitTable(result('cache-hit')),
    // Two runs of a few minutes each: see the scenario.
    'cached-peers': cachedPeersTables([result('cached-peers'), result('cached-peers-runtimes')]),
    'compressed-hits': compressedHitsTable(result('compressed-hits')),
  },
  'packages/defer/README.md': {
    bench: deferSummary(defer),
    evening: eveningText(result('defer-evening')),
  },
  'packages/child-process/README.md': {
    spawn: spawnTables(spawn, spawnRuns, readJson('benchmarks/article-spawn.json')),
    'spawn-real': spawnRealTable(result('spawn-real')),
    register: registerText(result('register'), '@redline/child-process/register'),
  },
  'packages/eslint-plugin/README.md': {
    rules: ruleTable(),
    myths: mythTable(),
    'lint-fix': lintFixText(readJson('tests/lint-fix/result.json')),
  },
  'docs/guide/access-logs.md': { top: topTable(result('top')) },
  'docs/guide/ci.md': {
    'ci-verdicts': ciVerdictsText(result('ci-verdicts')),
    'ci-compared': existsSync(join(root, 'benchmarks/results/ci-compared.json'))
      ? ciComparedText(result('ci-compared'))
      : 'Not recorded yet.',
  },
  'docs/guide/deploy.md': { cluster: clusterTable(result('cluster')) },
  'docs/guide/doctor.md': { 'doctor-prove': doctorProveText(result('doctor-prove')) },
  'docs/guide/heap.md': { 'heap-leaks': heapLeaksText(result('heap-leaks')) },
  'docs/guide/json-cache.md': { 'nest-tax': nestTaxTable(result('nest-tax')) },
  'docs/guide/logger.md': { bench: loggerTables(result('logger'), result('logger-loss')) },
  'docs/guide/stairs.md': { 'stairs-async': stairsAsyncText(result('stairs-async')) },
  'docs/guide/statistics.md': {
    injection: injectionText(result('stairs-injection')),
    verdicts: verdictsText(result('verdicts')),
    'verdicts-model': verdictsModelText(result('verdicts-model')),
    'verdicts-real': verdictsRealText(result('verdicts-real')),
    'ladder-real': ladderRealText(result('ladder-real')),
  },
  'docs/guide/try.md': { try: screen },
  'docs/guide/zoo.md': { zoo: zooTables(result('zoo')) },
};
for (const [rule, evidence] of readEvidence()) {
  blocks[`packages/eslint-plugin/${pageOf(rule)}`] = { evidence: evidenceText(evidence) };
}
for (const [page, texts] of Object.entries(blocks)) {
  for (const [name, text] of Object.entries(texts)) replaceBlock(page, name, text);
}

replaceFile(ruleIndexFile, ruleIndex());
replaceFile('docs/ladder.svg', renderSvg(ladder));
drawCharts('first', (size) => firstChart(first, frameworks, size));
const promised = ['redis-local', 'redis-10ms'].map((sink) => ({ sink, connections: 100 }));
drawCharts('defer', (size) =>
  deferChart(defer, 'One BullMQ job for every request', promised, size),
);
const grid = result('defer-grid');
for (const sink of measuredSinks(grid)) {
  const panels = counts
    .map((connections) => ({ sink, connections }))
    .filter((panel) => rowsOf(grid, panel).length > 0);
  const title = `A job for every request: ${sinks[sink]!}`;
  drawCharts(`defer-${sink}`, (size) => deferChart(grid, title, panels, size));
}

if (stale.length > 0) {
  process.stderr.write(`Out of date: ${stale.join(', ')}. Run "npm run readme".\n`);
  process.exitCode = 1;
}

/** Writes a version for wide screens and one for phones. */
function drawCharts(name: string, draw: (size: 'wide' | 'narrow') => string): void {
  replaceFile(`docs/charts/${name}.svg`, draw('wide'));
  replaceFile(`docs/charts/${name}-narrow.svg`, draw('narrow'));
}

// oxlint-disable-next-line typescript/no-explicit-any -- each table knows the shape of its result
function result(name: string): any {
  return readJson(`benchmarks/results/${name}.json`);
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

function replaceBlock(file: string, name: string, text: string): void {
  const before = readFileSync(join(root, file), 'utf8');
  const block = new RegExp(`(<!-- ${name}:start[^>]*-->\n)[^]*?(<!-- ${name}:end -->)`);
  if (!block.test(before)) throw new Error(`${file} has no block "${name}"`);
  replaceFile(
    file,
    before.replace(block, (_, start: string, end: string) => `${start}\n${text}\n\n${end}`),
  );
}

function replaceFile(file: string, text: string): void {
  let before = '';
  try {
    before = readFileSync(join(root, file), 'utf8');
  } catch {
    // Not written yet.
  }
  if (before === text) return;
  if (check) stale.push(file);
  else writeFileSync(join(root, file), text);
}
