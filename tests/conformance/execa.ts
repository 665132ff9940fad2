// execa's own tests on the engine: some 4,200, of everything that one can do with a child.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { engine } from '@redline/child-process';

const register = import.meta.resolve('@redline/child-process/register');
/** What the tests import. The rest is for checking execa's types and style. */
const NEEDED = [
  'get-node',
  'is-in-ci',
  'is-running',
  'log-process-errors',
  'path-exists',
  'path-key',
  'tempfile',
];
/** The last that installs everywhere. */
const AVA = '^6.4.1';
/** Failures that are known, each with the reason. */
const differences: Readonly<Record<string, string>> = {};
const LIMIT_MS = 20 * 60_000;
const SHOWN = 2000;

export async function run(folder: string, filter = ''): Promise<boolean> {
  const serving = engine();
  const source = join(folder, 'execa');
  if (serving.name === 'node' || !existsSync(source)) {
    console.log(
      `execa: skipped, ${serving.name === 'node' ? serving.reason : `${source} is not there`}`,
    );
    return true;
  }
  const began = performance.now();
  const home = mkdtempSync(join(tmpdir(), 'conformance-execa-'));
  try {
    // What is there may be read-only.
    cpSync(source, home, { recursive: true });
    const complaint = await install(home);
    if (complaint !== undefined) {
      console.log(`execa: skipped, npm could not install it: ${complaint}`);
      return true;
    }
    const files = globSync('test/**/*.js', { cwd: home })
      .filter((file) => !/\/(helpers|fixtures)\//.test(file) && file.includes(filter))
      .toSorted();
    const { passed, failures, strange } = await runAll(home, files);
    const unexpected = (await ownFailures(home, failures)).filter(
      (failure) => !Object.hasOwn(differences, failure),
    );
    for (const each of [...unexpected, ...strange]) {
      console.log(`execa: passes on Node and fails here: ${each.slice(0, SHOWN)}`);
    }
    const seconds = Math.round((performance.now() - began) / 1000);
    const count = unexpected.length + strange.length;
    console.log(
      `execa: ${files.length} files in ${seconds} s: ${passed} pass at once, ${count} fail unexpectedly`,
    );
    return count === 0 && passed > 0;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** @returns npm's complaint, if it has one */
async function install(home: string): Promise<string | undefined> {
  const file = join(home, 'package.json');
  const { devDependencies, scripts: _, ...manifest } = JSON.parse(readFileSync(file, 'utf8'));
  const needed = NEEDED.map((name) => [name, devDependencies[name]]);
  manifest.devDependencies = { ...Object.fromEntries(needed), ava: AVA };
  writeFileSync(file, JSON.stringify(manifest));
  const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--silent'];
  const { code, output } = await call('npm', ['install', ...flags], home);
  return code === 0 ? undefined : (output.trim().split('\n').at(-1) ?? `exit code ${code}`);
}

interface Run {
  passed: number;
  /** Titles by file. */
  failures: Map<string, Set<string>>;
  /** What failed and belongs to no file: a process that ended, say. */
  strange: string[];
}

async function runAll(home: string, files: readonly string[]): Promise<Run> {
  const output = await ava(home, files, true);
  const failures = new Map<string, Set<string>>();
  const strange: string[] = [];
  for (const title of failed(output)) {
    const found = placeOf(files, title);
    if (found === undefined) strange.push(title);
    else failures.set(found.file, (failures.get(found.file) ?? new Set()).add(found.title));
  }
  // What belongs to no file has ended one, which is run again.
  const isExplained = [...failures.values()].some((titles) => [...titles].some(isExit));
  return {
    passed: output.match(/^ok /gm)?.length ?? 0,
    failures,
    strange: isExplained ? [] : strange,
  };
}

/** What fails again, in a run of its file alone, and does not on plain Node. */
async function ownFailures(home: string, failures: Run['failures']): Promise<string[]> {
  const ours: string[] = [];
  for (const [file, titles] of failures) {
    const again = new Set(failed(await ava(home, [file], true)));
    const still = [...titles].filter((title) => again.has(title));
    if (still.length === 0) continue;
    const onNode = new Set(failed(await ava(home, [file], false)));
    ours.push(...still.filter((title) => !onNode.has(title)).map((title) => `${file}: ${title}`));
  }
  return ours;
}

async function ava(home: string, files: readonly string[], isOurs: boolean): Promise<string> {
  const args = ['--tap', '--concurrency=4', '--timeout=120s'];
  if (isOurs) args.push(`--node-arguments=--import=${register}`);
  const { output } = await call(join(home, 'node_modules/.bin/ava'), [...args, ...files], home);
  return output;
}

function failed(tap: string): string[] {
  return [...tap.matchAll(/^not ok \d+ - (.*)$/gm)].map(([, title]) => title!);
}

function isExit(title: string): boolean {
  return title.includes('.js exited with ');
}

/**
 * AVA puts the path of the file before a title, from the folder that all files are in: `pipe › sequence › what it is
 * about`; nothing before those of a single file.
 */
function placeOf(
  files: readonly string[],
  title: string,
): { file: string; title: string } | undefined {
  if (files.length === 1) return { file: files[0]!, title };
  const ended = isExit(title) ? files.find((file) => title.startsWith(file)) : undefined;
  if (ended !== undefined) return { file: ended, title };
  const folder = commonFolder(files);
  const parts = title.split(' › ');
  for (let count = 1; count < parts.length; count++) {
    const file = `${folder}${parts.slice(0, count).join('/')}.js`;
    if (files.includes(file)) return { file, title: parts.slice(count).join(' › ') };
  }
  return undefined;
}

function commonFolder(files: readonly string[]): string {
  let folder = files[0]!;
  do folder = folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1);
  while (!files.every((file) => file.startsWith(folder)));
  return folder;
}

async function call(
  program: string,
  args: string[],
  cwd: string,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, CI: '1', NO_COLOR: '1', FORCE_COLOR: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => (output += chunk));
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (chunk) => (complaints += chunk));
  const [code] = await once(child, 'close');
  return { code, output: output === '' ? complaints : output };
}
