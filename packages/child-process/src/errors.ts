import { constants } from 'node:os';
import { addAbortSignal, Readable } from 'node:stream';
import { getSystemErrorName } from 'node:util';

/** Meaning of each code; docs/guide/child-process-options.md has the same texts. */
export const childProcessErrorDocs = {
  ERR_REDLINE_CHILD_PROCESS_OPTION:
    'an option beyond those of Node, or an argument of `killTree`, got an invalid value; thrown',
} as const;

export type ChildProcessErrorCode = keyof typeof childProcessErrorDocs;

/** Errors of features beyond Node's module; everything else gets Node's own errors. */
export class ChildProcessError extends TypeError {
  override readonly name = 'ChildProcessError';
  readonly code: ChildProcessErrorCode;

  constructor(code: ChildProcessErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Creates Node's form of a failed system call: `errno` is negative. */
export function systemError(errno: number, syscall: string): NodeJS.ErrnoException {
  // Missing in libuv's names, because libuv never reports it.
  const code = errno === -constants.errno.ECHILD ? 'ECHILD' : getSystemErrorName(errno);
  return Object.assign(new Error(`${syscall} ${code}`), { errno, code, syscall });
}

/** Creates the error of a child that could not be started or waited for, or of a call that waited for one. */
export function spawnError(
  errno: number,
  file: string,
  args: string[],
  call: 'spawn' | 'spawnSync' | 'waitid' = 'spawn',
): NodeJS.ErrnoException {
  return Object.assign(systemError(errno, `${call} ${file}`), {
    path: file,
    spawnargs: args.slice(1),
  });
}

/** ERR_CHILD_PROCESS_STDIO_MAXBUFFER. */
export function maxBufferError(stream: 'stdout' | 'stderr'): RangeError {
  const code = 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';
  const error = new RangeError(`${stream} maxBuffer length exceeded`);
  // Node puts the code into the first line of the stack and does not change the name.
  Object.defineProperty(error, 'stack', {
    value: error.stack?.replace(/^RangeError/, `RangeError [${code}]`),
    writable: true,
    configurable: true,
  });
  Object.defineProperty(error, 'toString', {
    value: () => `RangeError [${code}]: ${error.message}`,
    writable: true,
    configurable: true,
  });
  return Object.assign(error, { code });
}

/** Creates Node's own AbortError, whose class is not public: an aborted stream carries one. */
export function abortError(cause: unknown): Error {
  const stream = new Readable({ read() {} });
  stream.on('error', () => {});
  addAbortSignal(AbortSignal.abort(), stream);
  const AbortError = stream.errored!.constructor as new (
    message?: string,
    options?: ErrorOptions,
  ) => Error;
  return new AbortError(undefined, { cause });
}
