import { fileURLToPath } from 'node:url';
import { resolve } from 'node:path';
import { PoolError } from './errors.ts';
import type { SpawnRequest } from './messages.ts';

export type PoolStdio = 'pipe' | 'ignore' | 'inherit';

/** The options of node:child_process's `spawn` that can be passed to another process. */
export interface PoolSpawnOptions {
  /** @default this process's at the call */
  cwd?: string | URL;
  /** @default the environment in which the pool was created */
  env?: NodeJS.ProcessEnv;
  argv0?: string;
  /** `inherit` gives the child this process's descriptors. @default 'pipe' */
  stdio?: PoolStdio | (PoolStdio | null | undefined)[];
  /** @default false */
  shell?: boolean | string;
  uid?: number;
  gid?: number;
  /** Starts a new session, in which it outlives its worker. @default false */
  detached?: boolean;
  windowsHide?: boolean;
  windowsVerbatimArguments?: boolean;
  /** Sends `killSignal` after this many milliseconds; 0 is never. @default 0 */
  timeout?: number;
  /** @default 'SIGTERM' */
  killSignal?: NodeJS.Signals | number;
  signal?: AbortSignal;
}

const passed = [
  'argv0',
  'shell',
  'uid',
  'gid',
  'detached',
  'windowsHide',
  'windowsVerbatimArguments',
] as const;

/** @throws {TypeError} Node's own ERR_INVALID_ARG_TYPE and ERR_INVALID_ARG_VALUE @throws {PoolError} ERR_REDLINE_POOL_OPTION */
export function toSpawnRequest(
  file: string,
  args: readonly string[],
  options: PoolSpawnOptions,
): SpawnRequest {
  checkText('file', file);
  if (file === '') throw invalid('ERR_INVALID_ARG_VALUE', "The argument 'file' cannot be empty.");
  if (!Array.isArray(args)) throw wrongType('args', 'an instance of Array', args);
  for (const [index, arg] of args.entries()) checkText(`args[${index}]`, String(arg));
  const request: SpawnRequest = {
    file,
    args: args.map(String),
    options: { cwd: resolveCwd(options.cwd), stdio: resolveStdio(options.stdio) },
  };
  if (options.env !== undefined && options.env !== null) {
    request.options.env = definedOnly(options.env);
  }
  for (const key of passed) {
    if (options[key] !== undefined) Object.assign(request.options, { [key]: options[key] });
  }
  return request;
}

function resolveCwd(cwd: string | URL | undefined | null): string {
  if (cwd === undefined || cwd === null || cwd === '') return process.cwd();
  if (cwd instanceof URL) return fileURLToPath(cwd);
  checkText('options.cwd', cwd);
  return resolve(cwd);
}

function resolveStdio(stdio: PoolSpawnOptions['stdio']): PoolStdio[] {
  const three = Array.isArray(stdio)
    ? Array.from({ length: Math.max(3, stdio.length) }, (_, fd) => stdio[fd] ?? 'pipe')
    : Array.from({ length: 3 }, () => stdio ?? 'pipe');
  const odd = three.find((each, fd) => fd > 2 || !['pipe', 'ignore', 'inherit'].includes(each));
  if (odd === undefined) return three;
  throw new PoolError(
    'ERR_REDLINE_POOL_OPTION',
    `stdio holds ${JSON.stringify(odd) ?? String(odd)}, but a child of a pool has three of 'pipe', 'ignore' or 'inherit': its worker cannot be given other descriptors.`,
  );
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  const defined: Record<string, string> = {};
  for (const [key, value] of Object.entries(env)) {
    if (value === undefined) continue;
    checkText(`options.env['${key}']`, String(value));
    defined[key] = String(value);
  }
  return defined;
}

function checkText(name: string, value: unknown): void {
  if (typeof value !== 'string') throw wrongType(name, 'of type string', value);
  if (value.includes('\0')) {
    throw invalid(
      'ERR_INVALID_ARG_VALUE',
      `The argument '${name}' must be a string without null bytes. Received ${JSON.stringify(value)}`,
    );
  }
}

function wrongType(name: string, expected: string, value: unknown): TypeError {
  return invalid(
    'ERR_INVALID_ARG_TYPE',
    `The "${name}" argument must be ${expected}. Received ${value === null ? 'null' : typeof value}`,
  );
}

function invalid(code: string, message: string): TypeError {
  return Object.assign(new TypeError(message), { code });
}
