import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { handleOf } from '../child/native-child.ts';
import { ChildProcessError, systemError } from '../errors.ts';
import type { KillTreeOptions, ExtraOptions } from '../options.ts';
import { graceOf, refused, type Extras } from '../plan/extras.ts';
import { validSignal } from '../plan/signals.ts';
import { clearTimeout, setTimeout } from '../node/timers.ts';
import { engine } from '../native/engine.ts';

const { signals, errno } = constants;

/**
 * Signals a child and all its descendants, and kills those that have not ended after `graceMs`. The promise is settled when
 * all have ended; the child's pipes are at their end by then, even if other processes hold them, and "close" follows.
 *
 * With `killTree`, the child may have ended before, and its descendants may have removed the traces of their origin one by
 * one. Without it, the call finds the processes that descend from the running child without a gap.
 *
 * @param signal For every process of the tree. @default 'SIGTERM'
 * @throws {ChildProcessError} ERR_REDLINE_CHILD_PROCESS_OPTION for an invalid argument
 */
export function killTree(
  child: ChildProcess,
  signal: NodeJS.Signals | number = 'SIGTERM',
  options: KillTreeOptions = {},
): Promise<void> {
  if (typeof child !== 'object' || child === null || typeof child.kill !== 'function')
    throw refused('child of killTree', 'a ChildProcess', child);
  if (typeof options !== 'object' || options === null)
    throw refused('options of killTree', 'an object', options);
  const number = numberOf(signal);
  const graceMs = graceOf('graceMs', options);
  const handle = handleOf(child);
  if (handle === undefined) return killAlone(child, number, graceMs);
  const failure = handle.endTree(number, graceMs);
  if (failure === 0) {
    if (handle.isRunning) Object.assign(child, { killed: true });
    return handle.treeEnd!;
  }
  // The whole tree has ended.
  if (failure === -errno.ESRCH) return Promise.resolve();
  return Promise.reject(systemError(failure, 'kill'));
}

/** The remaining processes of a child started with `killTree`. */
export interface Tree {
  /** Ends the descendants that have outlived the child. Returns true if there may be some. */
  endLeft(signal: NodeJS.Signals | number | undefined): boolean;
}

export function treeOf(child: ChildProcess, { graceMs }: Extras): Tree {
  return {
    endLeft: (signal = 'SIGTERM') => handleOf(child)?.endTree(numberOf(signal), graceMs) === 0,
  };
}

function numberOf(signal: unknown): number {
  const valid = validSignal(signal);
  if (valid === undefined)
    throw new ChildProcessError(
      'ERR_REDLINE_CHILD_PROCESS_OPTION',
      `The signal of killTree must be the name or the number of a signal; got ${String(signal)}.`,
    );
  return typeof valid === 'number' ? valid : signals[valid];
}

/** Does as much as Node's own functions can for a child of Node's. */
async function killAlone(child: ChildProcess, signal: number, graceMs: number): Promise<void> {
  warnWithoutEngine('killTree', 'only the child itself is signalled, and its pipes are closed');
  if (child.exitCode === null && child.signalCode === null) {
    const exited = Promise.withResolvers<void>();
    child.once('exit', () => exited.resolve());
    if (!child.kill(signal)) return;
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
    await exited.promise;
    clearTimeout(timer);
  }
  for (const stream of child.stdio ?? []) stream?.destroy();
}

const warned = new Set<string>();

/** Warns once that an option needs the native engine, and states the fallback. */
export function warnWithoutEngine(option: keyof ExtraOptions, instead: string): void {
  if (warned.has(option)) return;
  warned.add(option);
  const found = engine();
  const why = found.name === 'node' ? `: ${found.reason}` : ' for this child, which is not its own';
  process.emitWarning(
    `${option} needs the native engine of @redline/child-process, which does not serve${why}. Instead, ${instead}.`,
    { type: 'RedlineWarning', code: 'REDLINE_CHILD_PROCESS_WITHOUT_ENGINE' },
  );
}
