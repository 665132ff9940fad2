// `npm run test:lint-fix -- [package…]`: real packages from npm, whose tarballs hold their tests, before and after `eslint --fix`
// with the recommended rules. Every test file that passed before has to pass after. It fetches a few hundred packages and
// takes a quarter of an hour, so it is no part of `npm test`. What it finds is kept in result.json, package by package.
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ESLint } from 'eslint';
import redline from '@redline/eslint-plugin';
import type { LintFixResult } from './result.ts';

/** Test files, as each package runs them: with `node FILE`. */
const packages: Record<string, string> = {
  'fastify@5.12.8': 'test/**/*.test.js',
  'find-my-way@9.10.1': 'test/**/*.test.js',
  'fast-json-stringify@7.3.6': 'test/**/*.test.js',
  'light-my-request@6.8.1': 'test/*.test.js',
  'avvio@9.3.1': 'test/*.test.js',
  'pino@10.4.0': 'test/*.test.js',
  'sonic-boom@5.0.2': 'test/*.test.js',
  'thread-stream@4.2.1': 'test/*.test.js',
  'fast-uri@4.2.3': 'test/*.test.js',
  '@fastify/reply-from@12.6.5': 'test/*.test.js',
  '@fastify/static@10.1.11': 'test/*.test.js',
  '@fastify/cookie@11.1.5': 'test/*.test.js',
  'aedes@1.2.0': 'test/*.js',
  'qs@6.17.1': 'test/*.js',
  'resolve@1.22.14': 'test/*.js',
  'abstract-level@3.1.1': 'test/self.js',
};
const testTimeoutMs = 120_000;
/** Development dependencies that no test file needs: linters, types, coverage, browsers. */
const notNeeded =
  /eslint|standard|^c8$|^nyc$|tsd$|tstyche|typescript|@types|airtap|hallmark|jest|playwright|webpack|auto-changelog|markdownlint|pre-commit|husky|release-it|docusaurus|yarn|pnpm/;

const asked = process.argv.slice(2);
const chosen = Object.entries(packages).filter(
  ([name]) => asked.length === 0 || asked.some((each) => name.startsWith(`${each}@`)),
);
if (chosen.length === 0) {
  process.stderr.write(`None of these packages is known: ${asked.join(', ')}\n`);
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), 'redline-lint-fix-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
process.once('SIGINT', () => process.exit(130));

/** What was found, by package: a run of some packages renews those. */
const resultFile = join(import.meta.dirname, 'result.json');
const results: Record<string, LintFixResult> = existsSync(resultFile)
  ? (JSON.parse(readFileSync(resultFile, 'utf8')) as Record<string, LintFixResult>)
  : {};
const broken: string[] = [];
for (const [name, pattern] of chosen) {
  const root = fetch(name);
  if (root === undefined) {
    process.stdout.write(
      `${name}: not measured, as its development dependencies cannot be installed\n`,
    );
    continue;
  }
  const files = globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] }).toSorted();
  const before = await passing(root, files);
  const fixed = await fix(root);
  const after = await passing(root, before);
  const failed = before.filter((file) => !after.includes(file));
  broken.push(...failed.map((file) => `${name}: ${file}`));
  const result: LintFixResult = {
    ...fixed,
    testFiles: files.length,
    passedBefore: before.length,
    passedAfter: after.length,
  };
  results[name] = result;
  const sorted = Object.entries(results).toSorted(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(resultFile, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`);
  process.stdout.write(
    `${name}: ${result.lines} lines, ${result.fixes} fixed places; ${before.length} of ${files.length} test files passed before, ${after.length} after\n`,
  );
}
process.stdout.write(`${broken.length} test files broken\n`);
for (const each of broken) process.stdout.write(`  ${each}\n`);
if (broken.length > 0) process.exitCode = 1;

function fetch(name: string): string | undefined {
  const quiet = {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'] as ['ignore', 'pipe', 'inherit'],
  };
  const packed = execFileSync('npm', ['pack', '--silent', name], quiet).toString().trim();
  const root = join(folder, packed.replace(/\.tgz$/, ''));
  execFileSync('mkdir', [root]);
  execFileSync('tar', ['xzf', packed, '-C', root, '--strip-components=1'], quiet);
  const file = join(root, 'package.json');
  const description = JSON.parse(readFileSync(file, 'utf8')) as {
    devDependencies?: Record<string, string>;
  };
  const needed = Object.entries(description.devDependencies ?? {}).filter(
    ([dependency]) => !notNeeded.test(dependency),
  );
  writeFileSync(
    file,
    JSON.stringify({ ...description, devDependencies: Object.fromEntries(needed) }),
  );
  const options = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', '--silent'];
  try {
    execFileSync('npm', ['install', ...options], { ...quiet, cwd: root });
    return root;
  } catch {
    return undefined;
  }
}

async function fix(root: string): Promise<{ lines: number; fixes: number }> {
  const isModule =
    (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { type?: string }).type ===
    'module';
  const script = { languageOptions: { sourceType: 'commonjs' as const } };
  const eslint = new ESLint({
    cwd: root,
    fix: true,
    overrideConfigFile: true,
    allowInlineConfig: false,
    overrideConfig: [
      redline.configs.recommended,
      { files: ['**/*.cjs', ...(isModule ? [] : ['**/*.js'])], ...script },
    ],
  });
  const linted = await eslint.lintFiles(['.']);
  await ESLint.outputFixes(linted);
  const sources = linted.map(({ filePath }) => readFileSync(filePath, 'utf8'));
  // What is left of a fixed file's places is in `messages`; what was fixed is the difference to a run without fixing.
  const changed = linted.filter(({ output }) => output !== undefined);
  return {
    lines: sources.reduce((sum, source) => sum + source.split('\n').length - 1, 0),
    fixes: changed.reduce((sum, { source, output }) => sum + differing(source, output!), 0),
  };
}

/** Lines that are not the same any more. */
function differing(before: string | undefined, after: string): number {
  if (before === undefined) return 1;
  const left = new Set(after.split('\n'));
  return before.split('\n').filter((line) => !left.has(line)).length;
}

async function passing(root: string, files: readonly string[]): Promise<string[]> {
  const passed: string[] = [];
  const waiting = [...files];
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
        // A file that fails by luck is given a second chance.
        if ((await passes(root, file)) || (await passes(root, file))) passed.push(file);
      }
    }),
  );
  return passed.toSorted();
}

function passes(root: string, file: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--expose-gc', file],
      { cwd: root, timeout: testTimeoutMs, maxBuffer: 64 * 1024 * 1024 },
      (error) => resolve(error === null),
    );
  });
}
