import { ChildProcess, execFileSync } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

export type ChildProcessModule = typeof import('node:child_process');

/** A behaviour: what it returns must be the same on both engines. */
export type Behaviours = Record<string, (cp: ChildProcessModule) => unknown>;

/** Every fact about an error that a program could look at. */
export function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause, ...rest } = error as Error & Record<string, unknown>;
  return {
    name,
    message,
    firstLine: stack?.split('\n', 1)[0],
    isRangeError: error instanceof RangeError,
    isTypeError: error instanceof TypeError,
    className: error.constructor.name,
    text: String(error),
    cause: describeError(cause),
    rest: Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, plain(value)])),
  };
}

/** What a call throws, or what it returns. */
export function attempt(call: () => unknown): unknown {
  try {
    return { returned: typeof call() };
  } catch (error) {
    return { thrown: describeError(error) };
  }
}

/** Listens to a child and its streams. Emitters race with each other, so each has a list of its own. */
export async function record(child: ChildProcess): Promise<Record<string, unknown>> {
  const log: Record<string, unknown[]> = { child: [] };
  const order: string[] = [];
  for (const event of ['spawn', 'error', 'exit', 'close', 'disconnect', 'message']) {
    child.on(event, (...args: unknown[]) => {
      log['child']!.push([event, ...args.map((arg) => plain(describeError(arg)))]);
      if (event !== 'message') order.push(event);
    });
  }
  for (const [index, stream] of (child.stdio ?? []).entries()) {
    if (stream === null || stream === undefined) continue;
    const events: unknown[] = (log[`fd ${index}`] = []);
    if (index > 0) listen(stream as Readable, events, order);
    stream.on('close', (...args) => events.push(['close', ...args]));
    stream.on('error', (error) => events.push(['error', describeError(error)]));
  }
  await settled(child);
  return {
    ...log,
    first: order[0],
    last: order.at(-1),
    exitCode: child.exitCode,
    signalCode: child.signalCode,
    killed: child.killed,
    connected: child.connected,
    spawnfile: child.spawnfile,
    spawnargs: child.spawnargs,
    handle: (child as unknown as { _handle: unknown })._handle,
  };
}

function listen(stream: Readable, events: unknown[], order: string[]): void {
  let text = '';
  stream.on('data', (chunk) => {
    text += chunk;
    order.push('data');
  });
  stream.on('end', () => events.push(['end', text]));
}

/**
 * Resolves at "close", and a moment later, so that what comes too late is seen. A process that is not run for long hears of a child
 * before it hears of the timer that was to end earlier: "close" may have come.
 */
export async function settled(child: EventEmitter): Promise<void> {
  if (!hasClosed(child)) await new Promise((resolve) => child.once('close', resolve));
  await moment();
}

function hasClosed(child: EventEmitter): boolean {
  const { _closesGot, _closesNeeded } = child as never as Record<string, number>;
  return _closesGot === _closesNeeded;
}

export function moment(ms = 20): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Makes a descriptor for the stdio of a child, on which a process of its own waits for a line. */
export function latch(): { readonly fd: number; release(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'redline-latch-'));
  execFileSync('mkfifo', [join(folder, 'latch')]);
  // An open for both does not wait for the other end.
  const fd = openSync(join(folder, 'latch'), 'r+');
  rmSync(folder, { recursive: true });
  return {
    fd,
    release() {
      writeSync(fd, 'go\n');
      closeSync(fd);
    },
  };
}

/** Keeps the thread, as a long calculation does. */
export function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Keeps the thread until the child has ended, as a calculation does that takes longer than the child. */
export function blockUntilEnded(child: ChildProcess): void {
  const pid = child.pid!;
  while (stateOf(pid) === 'running') block(1);
  // Node takes the status in its loop. The engine does so on a thread, which may be late on a busy machine.
  if (handleClass(child) === handleClass(new ChildProcess())) return;
  for (let waitedMs = 0; waitedMs < 5_000 && stateOf(pid) === 'zombie'; waitedMs++) block(1);
  // It reports the status once it has taken it.
  block(3);
}

function handleClass(child: ChildProcess): unknown {
  return (child as never as { _handle: object })._handle.constructor;
}

/** A process that has ended is a zombie until its parent waits for it. */
export function stateOf(pid: number): 'running' | 'zombie' | 'gone' {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1')) ? 'zombie' : 'running';
  } catch {
    return 'gone';
  }
}

/** The output of a child as text, and how it ended. */
export async function outcome(child: ChildProcess): Promise<unknown> {
  const out: string[] = ['', ''];
  child.stdout?.on('data', (chunk) => (out[0] += chunk));
  child.stderr?.on('data', (chunk) => (out[1] += chunk));
  const errors: unknown[] = [];
  child.on('error', (error) => errors.push(describeError(error)));
  await settled(child);
  return { out, errors, exitCode: child.exitCode, signalCode: child.signalCode };
}

/** Without what differs from run to run. */
function plain(value: unknown): unknown {
  if (typeof value === 'function') return 'function';
  if (Buffer.isBuffer(value)) return `buffer ${value.toString('latin1')}`;
  return value;
}
