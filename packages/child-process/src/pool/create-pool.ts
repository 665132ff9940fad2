import { promisify } from 'node:util';
import { ChildProcess } from 'node:child_process';
import {
  collect,
  type PoolExecCallback,
  type PoolExecOptions,
  killAfter,
  killWhenAborted,
} from './exec-file.ts';
import { type PoolOptions, resolvePoolOptions } from './options.ts';
import type { PoolChild } from './pool-child.ts';
import { type CloseOptions, ProcessPool } from './process-pool.ts';
import { type PoolSpawnOptions, toSpawnRequest } from './spawn-request.ts';
import { planExecFile } from '../calls/exec-file.ts';
import { nodeChildProcess } from '../node/node-child-process.ts';
import { planSpawn } from '../plan/spawn-plan.ts';
import { isDeno, ownEngine } from './runtime.ts';

/** A child whose `stdio` is all pipes, the default. */
export type PipedPoolChild = PoolChild & {
  readonly [name in 'stdin' | 'stdout' | 'stderr']: NonNullable<PoolChild[name]>;
};

type Piped = PoolSpawnOptions & { stdio?: 'pipe' };

export interface PoolSpawn {
  (file: string, args?: readonly string[], options?: Piped): PipedPoolChild;
  (file: string, options: Piped): PipedPoolChild;
  (file: string, args?: readonly string[], options?: PoolSpawnOptions): PoolChild;
  (file: string, options: PoolSpawnOptions): PoolChild;
}

/** Resolves with the output; rejects with the callback's error, which then carries `stdout` and `stderr`. */
export type PromiseWithChild = Promise<{ stdout: string | Buffer; stderr: string | Buffer }> & {
  child: PoolChild;
};

export interface PoolExec {
  (command: string, callback?: PoolExecCallback): PoolChild;
  (command: string, options: PoolExecOptions, callback?: PoolExecCallback): PoolChild;
  [promisify.custom]: (command: string, options?: PoolExecOptions) => PromiseWithChild;
}

export interface PoolExecFile {
  (file: string, callback?: PoolExecCallback): PoolChild;
  (file: string, args: readonly string[], callback?: PoolExecCallback): PoolChild;
  (file: string, options: PoolExecOptions, callback?: PoolExecCallback): PoolChild;
  (
    file: string,
    args: readonly string[],
    options: PoolExecOptions,
    callback?: PoolExecCallback,
  ): PoolChild;
  [promisify.custom]: (
    file: string,
    args?: readonly string[],
    options?: PoolExecOptions,
  ) => PromiseWithChild;
}

export interface Pool extends AsyncDisposable {
  spawn: PoolSpawn;
  exec: PoolExec;
  execFile: PoolExecFile;
  /**
   * Accepts no more children, waits for running ones (or ends them with `killSignal`), then ends the workers. Resolves when
   * no process of the pool is left, except detached ones. Unref'ed children are not waited for.
   */
  close: (options?: CloseOptions) => Promise<void>;
  /** Process ids of the workers that are up. */
  readonly workerPids: readonly number[];
}

/**
 * Creates worker processes that start other processes, with the functions of node:child_process: the fork that would stall
 * this process happens in a small one.
 *
 * @throws {PoolError} ERR_REDLINE_POOL_OPTION, ERR_REDLINE_POOL_RUNTIME, ERR_REDLINE_POOL_WORKER_FILE
 * @example
 * const pool = createPool({ size: 4, balance: 'least-busy' }); pool.spawn('echo', ['hi']).stdout.pipe(process.stdout); await
 * pool.close();
 */
export function createPool(options: PoolOptions = {}): Pool {
  const pool = new ProcessPool(resolvePoolOptions(options));

  const spawn: PoolSpawn = (
    file: string,
    second?: readonly string[] | PoolSpawnOptions,
    third?: PoolSpawnOptions,
  ): PipedPoolChild => {
    const [args, given] = splitArguments(second, third);
    checkSpawn(file, args, given);
    const child = pool.start(toSpawnRequest(file, args, given));
    killAfter(child, given);
    killWhenAborted(child, given);
    return child as PipedPoolChild;
  };

  const runFile = (
    file: string,
    args: readonly string[],
    given: PoolExecOptions,
    callback: PoolExecCallback | undefined,
  ): PoolChild => {
    checkExecFile(file, args, given, callback);
    const child = pool.start(toSpawnRequest(file, args, given));
    collect(child, [file, ...args].join(' '), given, callback);
    return child;
  };
  const execFile = (file: string, ...rest: unknown[]): PoolChild => {
    const callback = typeof rest.at(-1) === 'function' ? rest.pop() : undefined;
    const [args, given] = splitArguments(rest[0], rest[1]);
    return runFile(file, args, given, callback as PoolExecCallback | undefined);
  };
  const exec = (command: string, ...rest: unknown[]): PoolChild => {
    const callback = typeof rest.at(-1) === 'function' ? rest.pop() : undefined;
    const given = (rest[0] ?? {}) as PoolExecOptions;
    const shell = typeof given.shell === 'string' ? given.shell : true;
    return runFile(command, [], { ...given, shell }, callback as PoolExecCallback | undefined);
  };

  return {
    spawn,
    exec: withPromise(exec) as PoolExec,
    execFile: withPromise(execFile) as PoolExecFile,
    close: (closeOptions) => pool.close(closeOptions),
    get workerPids() {
      return pool.workerPids;
    },
    [Symbol.asyncDispose]: () => pool.close(),
  };
}

function splitArguments<Options extends object>(
  second: unknown,
  third: unknown,
): [args: readonly string[], options: Options] {
  const hasArguments = Array.isArray(second) || second === undefined || second === null;
  return hasArguments
    ? [(second ?? []) as string[], (third ?? {}) as Options]
    : [[], second as Options];
}

function withPromise(run: (...args: never[]) => PoolChild): unknown {
  return Object.assign(run, {
    [promisify.custom]: (...args: unknown[]): PromiseWithChild => {
      const { promise, resolve, reject } = Promise.withResolvers<{
        stdout: string | Buffer;
        stderr: string | Buffer;
      }>();
      const callback: PoolExecCallback = (error, stdout, stderr) => {
        if (error === null) resolve({ stdout, stderr });
        else reject(Object.assign(error, { stdout, stderr }));
      };
      const child = (run as (...all: unknown[]) => PoolChild)(...args, callback);
      return Object.assign(promise, { child });
    },
  });
}

/** True if Node's own functions are available to report invalid arguments. */
const isNode = ownEngine === 'node' && !isDeno;

/** @throws the error of Node's `spawn` for these arguments; the pool checks `stdio` itself */
function checkSpawn(file: string, args: readonly string[], options: PoolSpawnOptions): void {
  const given = { ...options, stdio: undefined };
  if (planSpawn(file, args, given) !== undefined) return;
  refuse(() => nodeChildProcess.spawn(file, args, given));
}

/** @throws the error of Node's `execFile` for these arguments */
function checkExecFile(
  file: string,
  args: readonly string[],
  options: PoolExecOptions,
  callback: unknown,
): void {
  if (planExecFile(file, args, options, callback) !== undefined) return;
  refuse(() => nodeChildProcess.execFile(file, args, options as never, callback as never));
}

function refuse(call: () => void): void {
  if (isNode) return validateWithNode(call);
  throw Object.assign(new TypeError('An argument is invalid.'), { code: 'ERR_INVALID_ARG_VALUE' });
}

type Start = (...args: unknown[]) => unknown;

const validated = Symbol('the arguments are good');

/** Has one of Node's own functions check its arguments, warn about them or throw, without starting a child. */
function validateWithNode(call: () => void): void {
  const prototype = ChildProcess.prototype as unknown as { spawn: Start };
  const { spawn } = prototype;
  prototype.spawn = () => {
    throw validated;
  };
  try {
    call();
  } catch (error) {
    if (error !== validated) throw error;
  } finally {
    prototype.spawn = spawn;
  }
}
