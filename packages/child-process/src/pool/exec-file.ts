import { StringDecoder } from 'node:string_decoder';
import type { ChildProcess } from 'node:child_process';
import { maxBufferError } from '../errors.ts';
import type { ChildOutput } from './child-streams.ts';
import type { PoolChild } from './pool-child.ts';
import type { PoolSpawnOptions } from './spawn-request.ts';
import { killOnAbort } from '../calls/abort.ts';
import { clearTimeout, setTimeout } from '../node/timers.ts';

export interface PoolExecOptions extends Omit<PoolSpawnOptions, 'stdio' | 'detached'> {
  /** `buffer` returns Buffers. @default 'utf8' */
  encoding?: BufferEncoding | 'buffer' | null;
  /** Max bytes each of stdout and stderr; more kills the child. @default 1_048_576 */
  maxBuffer?: number;
}

export type PoolExecCallback = (
  error: ExecError | null,
  stdout: string | Buffer,
  stderr: string | Buffer,
) => void;

/** The error of Node's exec and execFile. */
export interface ExecError extends Error {
  code?: number | string | null;
  killed?: boolean;
  signal?: NodeJS.Signals | null;
  cmd?: string;
}

/** Collects the output of a child and calls back once, like node:child_process's execFile. */
export function collect(
  child: PoolChild,
  command: string,
  options: PoolExecOptions,
  callback: PoolExecCallback | undefined,
): void {
  const maxBuffer = options.maxBuffer ?? 1024 * 1024;
  const isText = options.encoding !== 'buffer' && options.encoding !== null;
  const encoding = isText ? ((options.encoding ?? 'utf8') as BufferEncoding) : undefined;
  let failure: ExecError | undefined;
  let timedOut = false;
  let isFinished = false;

  const overflow = (name: 'stdout' | 'stderr'): void => {
    failure ??= maxBufferError(name);
    child.stdout?.destroy();
    child.stderr?.destroy();
    child.kill(options.killSignal);
  };
  const stdout = gather(child.stdout!, encoding, maxBuffer, () => overflow('stdout'));
  const stderr = gather(child.stderr!, encoding, maxBuffer, () => overflow('stderr'));

  const finish = (code: number | null, signal: NodeJS.Signals | null): void => {
    if (isFinished) return;
    isFinished = true;
    if (callback === undefined) return;
    const [out, err] = [stdout(), stderr()];
    if (failure === undefined && code === 0 && signal === null) return callback(null, out, err);
    const error: ExecError =
      failure ??
      Object.assign(new Error(`Command failed: ${command}\n${err.toString()}`), {
        code: code !== null && code < 0 ? String(code) : code,
        killed: child.killed || timedOut,
        signal,
      });
    error.cmd ??= command;
    callback(error, out, err);
  };
  child.on('close', finish);
  child.on('error', (error: ExecError) => {
    failure ??= error;
    child.stdout?.destroy();
    child.stderr?.destroy();
    finish(null, null);
  });
  killAfter(child, options, () => {
    timedOut = true;
    // A grandchild that holds the pipes must not delay the result.
    child.stdout?.destroy();
    child.stderr?.destroy();
  });
  killWhenAborted(child, options);
}

/** @returns a function that returns the output so far */
function gather(
  output: ChildOutput,
  encoding: BufferEncoding | undefined,
  maxBuffer: number,
  onOverflow: () => void,
): () => string | Buffer {
  const chunks: Buffer[] = [];
  let length = 0;
  output.on('data', (chunk: Buffer) => {
    const room = maxBuffer - length;
    length += chunk.length;
    chunks.push(chunk.length > room ? chunk.subarray(0, Math.max(0, room)) : chunk);
    if (length > maxBuffer) onOverflow();
  });
  return () => {
    const bytes = Buffer.concat(chunks);
    if (encoding === undefined) return bytes;
    // A character cut in two by maxBuffer is omitted.
    return length > maxBuffer ? new StringDecoder(encoding).write(bytes) : bytes.toString(encoding);
  };
}

/** Implements `timeout`: it runs from the call, as in Node. */
export function killAfter(
  child: PoolChild,
  { timeout, killSignal }: PoolSpawnOptions,
  onTimeout?: () => void,
): void {
  if (!timeout) return;
  const timer = setTimeout(() => {
    onTimeout?.();
    child.kill(killSignal);
  }, timeout);
  const stop = (): void => clearTimeout(timer);
  // A child whose worker died has no 'exit'.
  child.once('exit', stop).once('close', stop);
}

/** Implements `signal`: kills the child and emits Node's AbortError. */
export function killWhenAborted(child: PoolChild, { signal, killSignal }: PoolSpawnOptions): void {
  if (signal) killOnAbort(child as unknown as ChildProcess, signal, killSignal);
}
