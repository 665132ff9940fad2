// Small programs over what Node's programs start children with (zx, tinyexec, nano-spawn, cross-spawn, shelljs, nodemon, simple-git,
// git-http-backend, npm, vitest, tsx, esbuild's service, sass-embedded, and the process pools jest-worker, tinypool, workerpool),
// each run on Node's own module and on the engine: nobody outside can tell which it was. PM2 is a suite of its own; browsers and
// ffmpeg are left out, for CI has none of them to start.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { engine } from '@redline/child-process';
import { installedCopy } from './installed-copy.ts';

interface Outcome {
  status: number | string | null;
  stdout: string[];
  stderr: string[];
}

const register = import.meta.resolve('@redline/child-process/register');
const LIMIT_MS = 120_000;
const DATE = '2026-01-02T03:04:05Z';

export async function run(_folder: string, filter = ''): Promise<boolean> {
  const serving = engine();
  if (serving.name === 'node') {
    console.log(`programs: skipped, ${serving.reason}`);
    return true;
  }
  assert.ok(isPreloaded(), 'what is registered is not what the programs get');
  const began = performance.now();
  await using copy = await installedCopy(join(import.meta.dirname, 'programs'), []);
  const files = globSync('*.mjs', { cwd: copy.folder }).filter((file) => file.includes(filter));
  let equal = 0;
  for (const file of files.toSorted()) {
    const onNode = outcome(copy.folder, file, '');
    const onEngine = outcome(copy.folder, file, `--import=${register}`);
    const difference = compare(onEngine, onNode) ?? unended(onNode);
    if (difference === undefined) equal++;
    else console.log(`programs: ${basename(file, '.mjs')}: ${difference}`);
  }
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(`programs: ${equal} equal, ${files.length - equal} differ, in ${seconds} s`);
  return equal > 0 && equal === files.length;
}

/** Two runs on Node's own module would be equal as well: the engine is loaded at the first call. */
function isPreloaded(): boolean {
  const source = `
    import { spawn } from 'node:child_process';
    import { readFileSync } from 'node:fs';
    const mapped = () => /child-process[^/]*\\.node/.test(readFileSync('/proc/self/maps', 'latin1'));
    const early = mapped();
    spawn('true').on('close', () => (process.exitCode = !early && mapped() ? 0 : 1));`;
  const env = { ...process.env, NODE_OPTIONS: `--import=${register}` };
  return spawnSync(process.execPath, ['--input-type=module', '-e', source], { env }).status === 0;
}

/** Each starts in the same folder, emptied before: the paths that it prints are the same. */
function outcome(home: string, file: string, options: string): Outcome {
  const cwd = join(home, 'run');
  rmSync(cwd, { recursive: true, force: true });
  mkdirSync(cwd);
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [join(home, file)], {
    cwd,
    env: environment(home, options),
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  return { status: status ?? signal, stdout: masked(stdout), stderr: masked(stderr) };
}

/** Nothing of the user's own settings for git and npm, nor of the `npm run` that this runs in. */
function environment(home: string, options: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|git_|NODE_)/i.test(name));
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    NODE_OPTIONS: options,
    NO_COLOR: '1',
    CI: '1',
    TZ: 'UTC',
    LC_ALL: 'C',
    GIT_AUTHOR_DATE: DATE,
    GIT_COMMITTER_DATE: DATE,
    npm_config_update_notifier: 'false',
  };
}

function masked(text: string): string[] {
  return text
    .replaceAll(/(\bpid\W{1,3}|\(node:)\d+/gi, '$1PID')
    .replaceAll(/\b\d+(\.\d+)? ?m?s\b/g, 'DURATION')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d[_:]\d\d[_:]\d\d[._]\d+Z/g, 'TIME')
    .split('\n');
}

function compare(onEngine: Outcome, onNode: Outcome): string | undefined {
  try {
    assert.deepEqual(onEngine, onNode);
    return undefined;
  } catch (error) {
    return (error as Error).message
      .replace('actual', 'on the engine')
      .replace('expected', 'on Node');
  }
}

/** One that fails on both, for a package that has changed, says nothing. */
function unended({ status, stderr }: Outcome): string | undefined {
  return status === 0 ? undefined : `ends with ${status} on both\n${stderr.join('\n')}`;
}
