// `npm test` runs the tests that a contributor needs, `npm run test:all` also the exhaustive ones: files named `*.slow.test.ts`.
// `npm run test:weekly` runs those named `*.weekly.test.ts` alone. `npm test -- PATH…` runs the named files, or those of folders;
// `--name PATTERN` selects tests in them.
import { globSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '..');
/** The tests next to the lint rules run in one process, by packages/eslint-plugin/test/rules.test.ts. */
const otherFolders = new Set(['node_modules', 'dist', 'dist-test', 'src']);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean' },
    weekly: { type: 'boolean' },
    name: { type: 'string', multiple: true },
  },
});
const paths = positionals.length > 0 ? positionals : ['packages', 'tests'];
const files = paths.flatMap(testsOf);
// A long file that starts last leaves the other cores idle.
const longest = readFileSync(join(import.meta.dirname, 'long-tests.txt'), 'utf8').split('\n');
const ordered = files.toSorted((one, other) => placeOf(one) - placeOf(other));

// Many tests wait for servers and clocks: more files than cores keep these busy.
const atATime = availableParallelism() + 2;
// With cached modules, a process does not compile them or strip their types again: a third of its start.
process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules/.cache/redline-tests');
const startedAt = performance.now();
const took: { file: string; seconds: number }[] = [];
process.exitCode = 1;
const events = run({
  files: ordered.map((file) => join(root, runnable(file))),
  concurrency: atATime,
  timeout: 900_000,
  ...(values.name && { testNamePatterns: values.name.map((pattern) => new RegExp(pattern)) }),
});
events.on('test:summary', ({ file, success }) => {
  if (file === undefined) process.exitCode = success ? 0 : 1;
});
events.on('test:complete', ({ name, file, details }) => {
  // A file is itself a test, from the start of its process to the end.
  if (file === undefined || name !== file) return;
  took.push({ file: relative(root, file), seconds: details.duration_ms / 1_000 });
});
await pipeline(events, new spec(), process.stdout, { end: false });
process.stdout.write(slowest());

/** Returns a file itself, slow or not, or the tests of a folder, including the exhaustive ones with `--all`. */
function testsOf(path: string): string[] {
  const found = statSync(join(root, path), { throwIfNoEntry: false });
  if (found === undefined) {
    process.stderr.write(`${path} is not in ${root}: name a test file, or a folder, from there.\n`);
    process.exit(2);
  }
  if (!found.isDirectory()) return [relative(root, join(root, path))];
  return globSync('**/*.test.ts', {
    cwd: join(root, path),
    exclude: (name) => otherFolders.has(name),
  })
    .map((file) => relative(root, join(root, path, file)))
    .filter(isChosen)
    .toSorted();
}

function isChosen(file: string): boolean {
  const isWeekly = file.endsWith('.weekly.test.ts');
  if (values.weekly || isWeekly) return isWeekly && values.weekly === true;
  return values.all === true || !isSlow(file);
}

function isSlow(file: string): boolean {
  return file.endsWith('.slow.test.ts');
}

/** Orders the exhaustive files first, then known long ones, then all others. */
function placeOf(file: string): number {
  if (isSlow(file)) return -1;
  const place = longest.indexOf(file);
  return place < 0 ? longest.length : place;
}

/** Tests of packages/nest use decorators, so `tsc -b` builds them. */
function runnable(file: string): string {
  return file.replace(/^packages\/nest\/test\/(.+)\.ts$/, 'packages/nest/dist-test/$1.js');
}

/** Lists the longest files, for when the whole run takes too long. */
function slowest(): string {
  const elapsed = (performance.now() - startedAt) / 1_000;
  const slowestFirst = took.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10);
  const lines = slowestFirst.map(
    ({ file, seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${file}\n`,
  );
  const head = `\n${took.length} files in ${elapsed.toFixed(0)} s, ${atATime} at a time. The longest:\n`;
  return head + lines.join('');
}
