// One file of Node's own tests in a process of its own, run as Node's tools/test.py runs it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signalGroup } from '@redline/services';

/** A file of Node's tests. */
export interface TestFile {
  /** Folder and name: `parallel/test-http-1.0.js`. */
  readonly id: string;
  /** What its "// Flags:" line asks for. */
  readonly flags: readonly string[];
  /** It wants the machine's fixed port for itself. */
  readonly isAlone: boolean;
  /** Options of Node for it are for the processes it starts, too. */
  readonly preloadsChildren: boolean;
}

export interface Place {
  /** The folder with Node's `test`. */
  readonly root: string;
  /** Files of the tests go below it. */
  readonly scratch: string;
  /** Tests of different slots may run at the same time. */
  readonly slot: number;
}

export interface Outcome {
  readonly passed: boolean;
  readonly isSkipped: boolean;
  /** How it ended, and what it printed. */
  readonly report: string;
}

const LONGEST_MS = 40_000;
/** A process that the test left behind may hold its output open. */
const LAST_OUTPUT_MS = 1000;
const MAX_OUTPUT = 20_000;
/** Tests that must run alone share this port; another run of the suite on this machine has another. */
const PORT = 20_000 + Math.trunc(Math.random() * 10_000);

/** Runs a test. `options` come before the test's own flags: a preload, or none for plain Node. */
export async function runFile(
  file: TestFile,
  options: readonly string[],
  place: Place,
): Promise<Outcome> {
  const own = file.preloadsChildren ? [] : options;
  const inherited = file.preloadsChildren ? options : [];
  const args = [...own, ...file.flags, join(place.root, 'test', file.id)];
  const child = spawn(process.execPath, args, {
    cwd: place.root,
    env: environment(file, inherited, place),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that what the test leaves running ends with it.
    detached: true,
  });
  let output = '';
  const collect = (chunk: Buffer) => {
    if (output.length < MAX_OUTPUT) output += chunk;
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const closed = once(child, 'close');
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    signalGroup(child, 'SIGKILL');
  }, LONGEST_MS);
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  clearTimeout(timer);
  signalGroup(child, 'SIGKILL');
  const enough = new AbortController();
  const { signal: isEnough } = enough;
  await Promise.race([closed, sleep(LAST_OUTPUT_MS, undefined, { signal: isEnough })]);
  enough.abort();
  const how = isLate ? `timed out after ${LONGEST_MS / 1000} s` : `ended with ${signal ?? code}`;
  return {
    passed: code === 0,
    isSkipped: /^1\.\.0 # Skipped/m.test(output),
    report: `${how}\n${output}`,
  };
}

function environment(
  file: TestFile,
  options: readonly string[],
  { scratch, slot }: Place,
): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, FORCE_COLOR: ___, ...env } = process.env;
  const folder = join(scratch, String(slot));
  mkdirSync(folder, { recursive: true });
  return {
    ...env,
    NODE_TEST_DIR: folder,
    TEST_THREAD_ID: String(slot),
    NODE_COMMON_PORT: String(PORT),
    NODE_SKIP_FLAG_CHECK: '1',
    ...(options.length > 0 ? { NODE_OPTIONS: options.map(quoted).join(' ') } : {}),
    ...(file.isAlone ? {} : { TEST_PARALLEL: '1' }),
  };
}

/** Node splits NODE_OPTIONS at spaces that are not in quotes. */
function quoted(option: string): string {
  return `"${option.replaceAll(/["\\]/g, '\\$&')}"`;
}
