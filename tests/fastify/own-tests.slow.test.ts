// Every test file in Fastify's npm package that listens, with one call swapped: where Fastify creates its server.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { exceptions } from './exceptions.ts';

const fastify = dirname(createRequire(import.meta.url).resolve('fastify/package.json'));
const preload = join(import.meta.dirname, 'swap-engine.ts');
/** Servers of Node's own are not the engine's; the bundlers and the types do not listen. */
const leftOut = new Set(['http2', 'https', 'bundler', 'types']);
const longestMs = 90_000;

describe('Fastify’s own tests', { concurrency: 2, timeout: 600_000 }, () => {
  const files = listeningFiles();
  test('are in its package', () => {
    assert.ok(files.length >= 100, `${files.length} files`);
  });
  for (const file of files) {
    test(file, async () => {
      const { failed, passed, output } = await runFile(file);
      const known = exceptions[file] ?? {};
      const unexpected = failed.filter((name) => !(name in known));
      assert.deepEqual(unexpected, [], output);
      assert.ok(passed > 0, output);
      const stale = Object.keys(known).filter((name) => !failed.includes(name));
      assert.deepEqual(stale, [], 'exceptions that are not needed');
    });
  }
});

function listeningFiles(): string[] {
  const root = join(fastify, 'test');
  const all = readdirSync(root, { recursive: true, encoding: 'utf8' });
  return all
    .filter((file) => /\.test\.m?js$/.test(file) && !leftOut.has(file.split(sep)[0]!))
    .filter((file) => listens(join(root, file)))
    .map((file) => file.split(sep).join('/'))
    .toSorted();
}

/** By itself or by a helper beside it. */
function listens(path: string): boolean {
  const text = readFileSync(path, 'utf8');
  if (/\blisten\b/.test(text)) return true;
  const helpers = [...text.matchAll(/require\('(\.[^']*)'\)/g)].map(([, name]) => name!);
  return helpers
    .filter((name) => /(helper|input-validation)(\.js)?$/.test(name))
    .some((name) =>
      /\.listen\(/.test(readFileSync(withExtension(join(dirname(path), name)), 'utf8')),
    );
}

function withExtension(path: string): string {
  return path.endsWith('.js') ? path : `${path}.js`;
}

interface Outcome {
  /** Names of the innermost tests that failed, under those of the tests around them. */
  failed: string[];
  passed: number;
  output: string;
}

async function runFile(file: string): Promise<Outcome> {
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env;
  const args = ['--no-warnings', '--import', preload, '--test-reporter=tap', join('test', file)];
  const child = spawn(process.execPath, args, {
    cwd: fastify,
    env: { ...env, NODE_PATH: join(import.meta.dirname, 'node_modules') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (errors += chunk));
  const closed = once(child, 'close');
  const late = new AbortController();
  void sleep(longestMs, undefined, { signal: late.signal })
    .then(() => child.kill('SIGKILL'))
    .catch(() => {});
  const [code, signal] = await closed;
  late.abort();
  const { failed, passed } = readTap(output);
  if (signal !== null) failed.push(`(ended by ${signal})`);
  else if (code !== 0 && failed.length === 0) failed.push(`(exit code ${code})`);
  return { failed, passed, output: excerpt(output) + errors.slice(-4_000) };
}

/** The report is indented by four for each level; a test's own line comes after those within it. */
function readTap(output: string): Pick<Outcome, 'failed' | 'passed'> {
  const failed: string[] = [];
  let passed = 0;
  const open: string[] = [];
  let deepestFailure = -1;
  for (const line of output.split('\n')) {
    const [, indent, what, name] =
      /^( *)(# Subtest:|not ok \d+ -|ok \d+ -) (.*?)(?: # (?:SKIP|TODO).*)?$/.exec(line) ?? [];
    if (indent === undefined) continue;
    const depth = indent.length / 4;
    if (what === '# Subtest:') {
      open[depth] = name!;
      open.length = depth + 1;
    } else if (what!.startsWith('ok')) {
      passed++;
    } else if (deepestFailure > depth) {
      // A test within it has said so already.
      deepestFailure = depth;
    } else {
      failed.push(open.slice(0, depth + 1).join(' > '));
      deepestFailure = depth;
    }
  }
  return { failed, passed };
}

/** The lines about failures. */
function excerpt(output: string): string {
  const at = output.search(/^ *not ok /m);
  return at === -1 ? output.slice(-2_000) : output.slice(Math.max(0, at - 200), at + 4_000);
}
