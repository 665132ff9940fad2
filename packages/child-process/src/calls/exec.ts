import type { ChildProcess } from 'node:child_process';
import { promisify } from 'node:util';
import { execFile } from './exec-file.ts';
import { nodeChildProcess, objectWithOther } from '../node/node-child-process.ts';
import { withPromise } from './promise.ts';

/** `exec` on the native engine. */
export function exec(command: unknown, options?: unknown, callback?: unknown): ChildProcess {
  if (typeof command !== 'string' || command.includes('\0')) {
    return nodeChildProcess.exec(command as never, options as never, callback as never);
  }
  if (typeof options === 'function') {
    callback = options;
    options = undefined;
  }
  const given = { ...(options as object | undefined) } as { shell?: unknown };
  const shell = typeof given.shell === 'string' ? given.shell : true;
  const all = { __proto__: null, ...given, shell };
  const other = objectWithOther(execFile) as { execFile: typeof execFile } | undefined;
  return other === undefined
    ? execFile(command, all, callback)
    : other.execFile(command, all, callback);
}

Object.defineProperty(exec, promisify.custom, { enumerable: false, value: withPromise(exec) });
