import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join, isAbsolute } from 'node:path';
import { nodeChildProcess } from '../node/node-child-process.ts';
import { PoolError } from './errors.ts';
// Imports the whole module: Node does not detect the named exports of a required .cts.
// oxlint-disable-next-line import/default
import besideThis from './worker-file.cts';

/** The program that runs the workers. */
export interface Runtime {
  path: string;
  engine: 'node' | 'bun';
}

export const ownEngine: Runtime['engine'] = process.versions['bun'] === undefined ? 'node' : 'bun';
/** Deno reports a Node version, but cannot run the worker's program. */
export const isDeno: boolean = process.versions['deno'] !== undefined;
const probeTimeoutMs = 10_000;

/** @throws {PoolError} ERR_REDLINE_POOL_RUNTIME */
export function findRuntime(runtime: string): Runtime {
  if (runtime === ownEngine && !isDeno) return { path: process.execPath, engine: ownEngine };
  const path = runtime === 'node' || runtime === 'bun' ? findOnPath(runtime) : runtime;
  return { path, engine: askEngine(path) };
}

function findOnPath(program: string): string {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, program);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder.
    }
  }
  throw runtimeError(
    `The runtime "${program}" is not on PATH; give its path: runtime: '/…/${program}'.`,
  );
}

/**
 * Identifies the runtime: Node prints `v24.1.0`, Bun `1.4.5`. On any other, a worker would fail later with a less clear
 * error.
 */
function askEngine(path: string): Runtime['engine'] {
  let answer: string;
  try {
    answer = nodeChildProcess
      .execFileSync(path, ['--version'], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        timeout: probeTimeoutMs,
      })
      .trim();
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? (cause as Error).message;
    throw runtimeError(`The runtime "${path}" cannot be run (${reason}).`, cause);
  }
  if (/^v\d+\.\d+\.\d+/.test(answer)) return 'node';
  if (/^\d+\.\d+\.\d+/.test(answer)) return 'bun';
  const said = JSON.stringify(answer.split('\n', 1)[0]);
  throw runtimeError(`The runtime "${path}" is neither Node nor Bun: its --version says ${said}.`);
}

function runtimeError(message: string, cause?: unknown): PoolError {
  return new PoolError('ERR_REDLINE_POOL_RUNTIME', message, { cause });
}

// oxlint-disable-next-line import/no-named-as-default-member
const workerFile: string | undefined = besideThis.workerFile;

/**
 * Finds the program of the workers. A bundle does not contain it, and must not be started in its place: it would start
 * another pool.
 *
 * @throws {PoolError} ERR_REDLINE_POOL_WORKER_FILE
 */
export function findWorkerFile(): string {
  // Some bundlers keep the module's path, but relative to the project.
  if (workerFile !== undefined && isAbsolute(workerFile) && existsSync(workerFile))
    return workerFile;
  const [what, remedy] =
    workerFile === undefined
      ? ['the package is in a bundle', 'mark @redline/child-process as external']
      : [
          `${workerFile} does not exist`,
          'install @redline/child-process again, outside the bundle',
        ];
  throw new PoolError(
    'ERR_REDLINE_POOL_WORKER_FILE',
    `The pool cannot find the program of its workers: ${what}; ${remedy}.`,
  );
}
