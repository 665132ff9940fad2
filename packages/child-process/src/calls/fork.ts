import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { nodeChildProcess } from '../node/node-child-process.ts';
import { isCleanText } from '../plan/spawn-plan.ts';
import { spawn } from './spawn.ts';

interface ForkOptions {
  execPath?: unknown;
  execArgv?: unknown;
  silent?: unknown;
  stdio?: unknown;
}

/** `fork` on the native engine. */
export function fork(modulePath: unknown, ...[args, options]: [unknown?, unknown?]): ChildProcess {
  const planned = planFork(modulePath, args, options);
  if (planned === undefined) {
    return nodeChildProcess.fork(modulePath as never, args as never, options as never);
  }
  return spawn(planned.file, planned.args, planned.options);
}

/** Returns `undefined` if Node has to decide. */
function planFork(
  modulePath: unknown,
  args: unknown,
  options: unknown,
): { file: string; args: unknown[]; options: object } | undefined {
  const path = modulePath instanceof URL ? fileOf(modulePath) : modulePath;
  if (!isCleanText(path)) return undefined;
  if (args === undefined || args === null) args = [];
  else if (typeof args !== 'object') return undefined;
  else if (!Array.isArray(args)) {
    options = args;
    args = [];
  }
  if (
    options !== undefined &&
    options !== null &&
    (typeof options !== 'object' || Array.isArray(options))
  ) {
    return undefined;
  }
  const given = {
    __proto__: null,
    ...(options as object | null | undefined),
    shell: false,
  } as ForkOptions;
  const execPath = given.execPath || process.execPath;
  const execArgv = given.execArgv || inheritedExecArgv();
  if (!isCleanText(execPath) || !Array.isArray(execArgv) || !execArgv.every(isCleanText))
    return undefined;
  const stdio = planChannel(given.stdio, given.silent);
  if (stdio === undefined) return undefined;
  return {
    file: execPath,
    args: [...execArgv, path, ...(args as unknown[])],
    options: { ...given, execPath, stdio },
  };
}

function planChannel(stdio: unknown, silent: unknown): unknown[] | undefined {
  if (Array.isArray(stdio)) return stdio.includes('ipc') ? stdio : undefined;
  switch (typeof stdio === 'string' ? stdio : silent ? 'pipe' : 'inherit') {
    case 'inherit':
      return [0, 1, 2, 'ipc'];
    case 'pipe':
    case 'overlapped':
      return ['pipe', 'pipe', 'pipe', 'ipc'];
    case 'ignore':
      return ['ignore', 'ignore', 'ignore', 'ipc'];
    default:
      return undefined;
  }
}

/** Removes the script of `node -e`, which the child would run again. */
function inheritedExecArgv(): string[] {
  const { _eval: script } = process as { _eval?: string | null };
  const { execArgv } = process;
  if (script === undefined || script === null) return execArgv;
  const index = execArgv.lastIndexOf(script);
  return index > 0 ? execArgv.toSpliced(index - 1, 2) : execArgv;
}

function fileOf(url: URL): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}
