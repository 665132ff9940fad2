// Writes the figures of the READMEs from the committed result files: `npm run readme`. With --check it changes nothing and
// fails if a README differs from its result file.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  isMeasured,
  judge,
  renderSvg,
  type BenchResult,
  type MeasuredVariant,
  type PrecisionFacts,
} from '@redline/lab';
import { byHandTable } from './by-hand-table.ts';
import { cacheHitTable } from './cache-hit-table.ts';
import { cachedPeersTables } from './cached-peers-table.ts';
import { compressedHitsTable } from './compressed-hits-table.ts';
import { engineCostsTable } from './engine-costs-table.ts';
import { httpTables } from './http-tables.ts';
import { checkedNodesTable } from './checked-nodes-table.ts';
import { deferChart, rowsOf, type Panel } from './defer-chart.ts';
import { eveningText } from './defer-evening.ts';
import { deferGrid, measuredSinks } from './defer-grid-tables.ts';
import { deferShort, deferSummary } from './defer-tables.ts';
import { counts, sinks } from './defer-words.ts';
import { doctorProveText } from './doctor-prove-table.ts';
import { heapLeaksText } from './heap-leaks-table.ts';
import { filesTables } from './files-table.ts';
import { firstChart, firstFigure, firstText } from './first-screen.ts';
import { frameworksSummary, frameworksTables } from './frameworks-table.ts';
import { loggerTables } from './logger-table.ts';
import type { GridResult } from '../benchmarks/defer-grid/grid-result.ts';
import type { LoggerLoss } from '../benchmarks/proofs/logger-loss.ts';
import { headline } from './headline.ts';
import { lintFixText } from './lint-fix-table.ts';
import { legacyTable } from './legacy-table.ts';
import { injectionText, stairsAsyncText, verdictsModelText, verdictsText } from './proof-tables.ts';
import { percent } from './ratio-text.ts';
import {
  type CiCompared,
  ciComparedText,
  ciVerdictsText,
  ladderRealText,
  verdictsRealText,
} from './real-run-tables.ts';
import { ruleIndex, ruleIndexFile } from './rule-index.ts';
import { evidenceText, mythTable, pageOf, readEvidence, ruleTable } from './rule-tables.ts';
import { registerText } from './register-table.ts';
import { spawnRealTable } from './spawn-real-table.ts';
import { spawnSummary, spawnTables } from './spawn-tables.ts';
import type { TopProof } from '../benchmarks/proofs/top.ts';
import type { RegisterResult } from '../benchmarks/proofs/register.ts';
import { runsOf } from './runs-by-model.ts';
import { table } from './markdown-table.ts';
import { nestTaxTable } from './nest-tax-table.ts';
import { topTable } from './top-table.ts';
import { tryScreen } from './try-screen.ts';
import { zooLine, zooTables } from './zoo-table.ts';
import type { ZooResult } from '../tests/zoo/zoo-result.ts';

const root = join(import.meta.dirname, '..');
const check = process.argv.includes('--check');
const stale: string[] = [];

const ladder: BenchResult = readJson('benchmarks/results/cached-api.json');
const article: { requestsPerSecond: Record<string, number> } = readJson(
  'benchmarks/article-ladder.json',
);

replaceFile('docs/ladder.svg', renderSvg(ladder));
const first = firstFigure(runsOf('frameworks'));
replaceBlock('README.md', 'first', firstText(first));
for (const size of ['wide', 'narrow'] as const) {
  const file = `docs/charts/first${size === 'wide' ? '' : '-narrow'}.svg`;
  replaceFile(file, firstChart(first, runsOf('frameworks'), size));
}
replaceBlock(
  'README.md',
  'headline',
  headline({
    ladder,
    frameworks: runsOf('frameworks'),
    defer: readResult('defer'),
    spawnEcho: readResult('spawn-echo'),
    spawnResident: readResult('spawn-resident'),
    legacy: readResult('legacy'),
  }),
);
replaceBlock('README.md', 'ladder', describeRun(ladder));
replaceBlock('examples/cached-api/README.md', 'ladder', ladderTable(ladder));
const byHand = readResult('by-hand');
if (byHand !== undefined) {
  replaceBlock('examples/cached-api/README.md', 'by-hand', byHandTable(byHand));
}
const cacheHit = readResult('cache-hit');
if (cacheHit !== undefined) {
  replaceBlock('packages/response-cache/README.md', 'cache-hit', cacheHitTable(cacheHit));
}
replaceBlock('packages/http/README.md', 'checked', checkedNodesTable());
const nestTax = readResult('nest-tax');
if (nestTax !== undefined) {
  replaceBlock('docs/guide/json-cache.md', 'nest-tax', nestTaxTable(nestTax));
}
// Measured separately, in half an hour; omitted before the first run.
if (existsSync(join(root, 'benchmarks/results/spawn.json'))) {
  const spawn: BenchResult = readJson('benchmarks/results/spawn.json');
  const sync = readResult('spawn-sync') ?? spawn;
  const close = ['spawn-echo', 'spawn-resident'].flatMap((name) => readResult(name) ?? []);
  const tables = spawnTables(spawn, { sync, close }, readJson('benchmarks/article-spawn.json'));
  replaceBlock('packages/child-process/README.md', 'spawn', tables);
  replaceBlock('README.md', 'spawn', spawnSummary(spawn));
}
const spawnReal = readResult('spawn-real');
if (spawnReal !== undefined) {
  replaceBlock('packages/child-process/README.md', 'spawn-real', spawnRealTable(spawnReal));
}
if (existsSync(join(root, 'benchmarks/results/register.json'))) {
  const register: RegisterResult = readJson('benchmarks/results/register.json');
  for (const name of ['child-process', 'http']) {
    const text = registerText(register, `@redline/${name}/register`);
    replaceBlock(`packages/${name}/README.md`, 'register', text);
  }
}
if (existsSync(join(root, 'benchmarks/results/top.json'))) {
  const top: TopProof = readJson('benchmarks/results/top.json');
  replaceBlock('docs/guide/access-logs.md', 'top', topTable(top));
}
replaceBlock('packages/http/README.md', 'http', httpTables(runsOf('http')));
// Two runs of a few minutes each: see the scenario.
const cachedPeers = ['cached-peers', 'cached-peers-runtimes'].flatMap(
  (name) => readResult(name) ?? [],
);
if (cachedPeers.length > 0) {
  replaceBlock('packages/response-cache/README.md', 'cached-peers', cachedPeersTables(cachedPeers));
}
const compressedHits = readResult('compressed-hits');
if (compressedHits !== undefined) {
  const text = compressedHitsTable(compressedHits);
  replaceBlock('packages/response-cache/README.md', 'compressed-hits', text);
}
const engineCosts = readResult('engine-costs');
if (engineCosts !== undefined) {
  replaceBlock('docs/design/http.md', 'engine-costs', engineCostsTable(engineCosts));
}
const filesResult = readResult('files');
if (filesResult !== undefined) {
  replaceBlock('packages/http/README.md', 'files', filesTables(filesResult));
}
const frameworks = runsOf('frameworks');
replaceBlock('packages/http/README.md', 'frameworks', frameworksTables(frameworks));
replaceBlock('README.md', 'frameworks', frameworksSummary(frameworks));
const logger = readResult('logger');
if (logger !== undefined) {
  const loss: LoggerLoss = readJson('benchmarks/results/logger-loss.json');
  replaceBlock('docs/guide/logger.md', 'bench', loggerTables(logger, loss));
}
// Measured separately, in a quarter of an hour. The whole grid is another run, with fewer restarts.
const deferred = readResult('defer');
if (deferred !== undefined) {
  replaceBlock('packages/defer/README.md', 'bench', deferSummary(deferred));
  replaceBlock('README.md', 'defer', deferShort());
  const promised = ['redis-local', 'redis-10ms'].map((sink) => ({ sink, connections: 100 }));
  draw('defer', 'One BullMQ job for every request', deferred, promised);
}
const eveningFile = 'benchmarks/results/defer-evening.json';
if (existsSync(join(root, eveningFile))) {
  replaceBlock('packages/defer/README.md', 'evening', eveningText(readJson(eveningFile)));
}
const gridFile = 'benchmarks/results/defer-grid.json';
const isWhole = existsSync(join(root, gridFile));
const grid: GridResult | undefined = isWhole ? readJson(gridFile) : deferred;
if (grid !== undefined) {
  const text = deferGrid(grid, isWhole ? 'defer-grid' : 'defer');
  replaceBlock('examples/deferred-work/README.md', 'grid', text);
  drawGrid(grid);
}
// Measured separately, in minutes; omitted before the first run.
if (existsSync(join(root, 'benchmarks/results/legacy.json'))) {
  const legacy: BenchResult = readJson('benchmarks/results/legacy.json');
  replaceBlock('examples/legacy-http/README.md', 'legacy', legacyTable(legacy));
}
if (existsSync(join(root, 'benchmarks/results/try.json'))) {
  const screen = tryScreen(readJson('benchmarks/results/try.json'));
  replaceBlock('README.md', 'try', screen);
  replaceBlock('docs/guide/try.md', 'try', screen);
}
if (existsSync(join(root, 'benchmarks/results/zoo.json'))) {
  const zoo: ZooResult = readJson('benchmarks/results/zoo.json');
  replaceBlock('README.md', 'zoo', zooLine(zoo, 'docs/guide/zoo.md'));
  replaceBlock('docs/guide/zoo.md', 'zoo', zooTables(zoo));
}
const stairsAsync = 'benchmarks/results/stairs-async.json';
if (existsSync(join(root, stairsAsync))) {
  replaceBlock('docs/guide/stairs.md', 'stairs-async', stairsAsyncText(readJson(stairsAsync)));
}
const heapLeaks = 'benchmarks/results/heap-leaks.json';
if (existsSync(join(root, heapLeaks))) {
  replaceBlock('docs/guide/heap.md', 'heap-leaks', heapLeaksText(readJson(heapLeaks)));
}
const doctorProve = 'benchmarks/results/doctor-prove.json';
if (existsSync(join(root, doctorProve))) {
  replaceBlock('docs/guide/doctor.md', 'doctor-prove', doctorProveText(readJson(doctorProve)));
}
const statistics = 'docs/guide/statistics.md';
replaceBlock(
  statistics,
  'injection',
  injectionText(readJson('benchmarks/results/stairs-injection.json')),
);
replaceBlock(statistics, 'verdicts', verdictsText(readJson('benchmarks/results/verdicts.json')));
replaceBlock(
  statistics,
  'verdicts-model',
  verdictsModelText(readJson('benchmarks/results/verdicts-model.json')),
);
replaceBlock(
  statistics,
  'verdicts-real',
  verdictsRealText(readJson('benchmarks/results/verdicts-real.json')),
);
replaceBlock(
  statistics,
  'ladder-real',
  ladderRealText(readJson('benchmarks/results/ladder-real.json')),
);
replaceBlock(
  'docs/guide/ci.md',
  'ci-verdicts',
  ciVerdictsText(readJson('benchmarks/results/ci-verdicts.json')),
);
const compared = 'benchmarks/results/ci-compared.json';
replaceBlock(
  'docs/guide/ci.md',
  'ci-compared',
  existsSync(join(root, compared))
    ? ciComparedText(readJson<CiCompared>(compared))
    : 'Not recorded yet.',
);

replaceFile(ruleIndexFile, ruleIndex());
replaceBlock('packages/eslint-plugin/README.md', 'rules', ruleTable());
replaceBlock('packages/eslint-plugin/README.md', 'myths', mythTable());
replaceBlock(
  'packages/eslint-plugin/README.md',
  'lint-fix',
  lintFixText(readJson('tests/lint-fix/result.json')),
);
for (const [rule, evidence] of readEvidence()) {
  replaceBlock(`packages/eslint-plugin/${pageOf(rule)}`, 'evidence', evidenceText(evidence));
}

if (stale.length > 0) {
  process.stderr.write(`Out of date: ${stale.join(', ')}. Run "npm run readme".\n`);
  process.exitCode = 1;
}

/** Draws a chart for each measured sink. */
function drawGrid(result: GridResult): void {
  for (const sink of measuredSinks(result)) {
    const panels = counts
      .map((connections) => ({ sink, connections }))
      .filter((panel) => rowsOf(result, panel).length > 0);
    draw(`defer-${sink}`, `A job for every request: ${sinks[sink]!}`, result, panels);
  }
}

/** Writes a version for wide screens and one for phones. */
function draw(name: string, title: string, result: GridResult, panels: readonly Panel[]): void {
  replaceFile(`docs/charts/${name}.svg`, deferChart(result, title, panels, 'wide'));
  replaceFile(`docs/charts/${name}-narrow.svg`, deferChart(result, title, panels, 'narrow'));
}

function describeRun({ machine, load, precision, startedAt }: BenchResult): string {
  return [
    `Measured ${startedAt.slice(0, 10)} on ${machine.cores} cores (${machine.cpuModel}, ${machine.virtualisation}), ${machine.kernel},`,
    `Node ${machine.node.slice(1)}; ${load.generator}, ${load.connections} connections, ${machine.pinning};`,
    `${precision.restarts} restarts × ${precision.blocks} interleaved blocks, A/A noise ± ${percent(precision.cpuBand)} CPU, ± ${percent(precision.rpsBand)} rps.`,
    'Raw data: [benchmarks/results/cached-api.json](benchmarks/results/cached-api.json).',
  ].join('\n');
}

function ladderTable(result: BenchResult): string {
  const base = article.requestsPerSecond[result.baseline]!;
  const rows = result.variants.filter(isMeasured).map((rung) => {
    const theirs = article.requestsPerSecond[rung.name];
    return [
      `\`${rung.name}\``,
      theirs === undefined ? '–' : `${(theirs / base).toFixed(2)} ×`,
      `${rung.rpsRatio.value.toFixed(2)} ×${interval(rung.rpsRatio)}`,
      rung.cpuMicrosPerRequest.toFixed(1),
      `${rung.cpuRatio.value.toFixed(2)} ×${interval(rung.cpuRatio)}`,
      stepText(rung, result.precision),
    ];
  });
  const head = [
    'rung',
    'the article, rps',
    'here, rps',
    'CPU µs per request',
    'here, CPU',
    'CPU against the rung below',
  ];
  return table(head, rows);
}

function stepText({ step }: MeasuredVariant, precision: PrecisionFacts): string {
  if (step === undefined) return '–';
  // Judged again by the current rule: a record may be older.
  const verdict = judge(step.cpu.ratio, { margin: precision.margin, band: precision.cpuBand });
  return `${step.cpu.ratio.value.toFixed(2)} ×${interval(step.cpu.ratio)}, ${verdict}`;
}

function interval({ low, high }: { low: number; high: number }): string {
  return low === high ? '' : ` [${low.toFixed(2)}, ${high.toFixed(2)}]`;
}

/** Each is measured separately; undefined before its first run. */
function readResult(name: string): BenchResult | undefined {
  const file = `benchmarks/results/${name}.json`;
  return existsSync(join(root, file)) ? readJson(file) : undefined;
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
