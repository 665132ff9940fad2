import { spawn } from 'node:child_process';
import { pipeline } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import { endChild, startChild } from '../../system/guardian.ts';

/** The end of a command of a container engine. */
export interface Finish {
  code: number;
  stdout: string;
  /** The last part of it. */
  stderr: string;
}

export interface ClientOptions {
  signal: AbortSignal;
  /** Its standard input; without one it has none. */
  input?: string | Readable;
  /** Receives what it writes on standard error as it comes. */
  onError?: (chunk: Buffer) => void;
}

const keptCharacters = 20_000;
/** A shell reports a program that a signal ended by this sum. */
const endedBySignal = 128;

/**
 * Runs a command of a container engine to its end. It has a process group of its own, so that a Ctrl-C in the terminal only reaches
 * redline, which removes the container first.
 * @returns undefined if the program is not installed
 */
export async function runClient(
  [program, ...args]: readonly string[],
  { signal, input, onError }: ClientOptions,
): Promise<Finish | undefined> {
  signal.throwIfAborted();
  const child = startChild((mark) =>
    spawn(program!, args, {
      // The virtual machine of Lima need not have this folder.
      cwd: '/',
      env: { ...process.env, ...mark },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    }),
  );
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (stdout += text));
  child.stderr.on('data', (chunk: Buffer) => {
    onError?.(chunk);
    stderr = (stderr + chunk.toString()).slice(-keptCharacters);
  });
  const { promise: ended, resolve, reject } = Promise.withResolvers<number | undefined>();
  child.on('error', (error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? resolve(undefined) : reject(error),
  );
  child.on('close', (code) => resolve(code ?? endedBySignal));
  // On abort the exit is enough: what it has started may hold its streams for longer.
  const end = async (): Promise<void> => {
    await endChild(child);
    resolve(endedBySignal);
  };
  signal.addEventListener('abort', end);
  try {
    // A command that ends before it has read its input fails by its exit code.
    void feed(child.stdin, input).catch(() => {});
    const code = await ended;
    signal.throwIfAborted();
    return code === undefined ? undefined : { code, stdout, stderr };
  } finally {
    signal.removeEventListener('abort', end);
    for (const stream of child.stdio) stream?.destroy();
  }
}

async function feed(
  stdin: NodeJS.WritableStream,
  input: string | Readable | undefined,
): Promise<void> {
  if (typeof input === 'object') return pipeline(input, stdin);
  stdin.on('error', () => {});
  stdin.end(input ?? '');
}

/** The line that an engine adds below its own errors. */
const hint = /^(See|Run) '/;

/** Returns the last line that a command wrote on standard error, without the mark at its end; its exit code if there is none. */
export function lastLine({ stderr, code }: Pick<Finish, 'stderr' | 'code'>): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '' && !hint.test(line));
  return (
    lines
      .at(-1)
      ?.trim()
      .replace(/[.?!]$/, '') ?? `it ended with exit code ${code}`
  );
}
