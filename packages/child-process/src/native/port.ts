import type { AsyncResource } from 'node:async_hooks';
import { Server } from 'node:net';
import { isMainThread } from 'node:worker_threads';
import { native } from './engine.ts';
import { EVENT } from './wire.ts';

type Port = import('../../native.cjs').Port;

/** The engine's events for a child. */
export interface Listener extends AsyncResource {
  /** The resources that keep the loop alive, by Node's names. */
  readonly resources: string[];
  /** The objects that own these resources. */
  readonly handles: object[];
  onStarted(): void;
  onFailed(errno: number): void;
  /** `status` is the exit code, or a signal as a negative number. */
  onExited(pid: number, status: number): void;
  /** Its exit status is unknown. */
  onLost(pid: number, errno: number): void;
  onMeasured(bytes: Buffer): void;
  readonly pipes: PipeListener | undefined;
}

/** The engine's events for the outputs of a child. */
export interface PipeListener {
  onData(stream: number, bytes: Buffer): void;
  onEnded(stream: number, errno: number, bytes: Buffer | undefined): void;
  onDrained(stream: number, bytes: number): void;
  onOverflowed(stream: number, bytes: Buffer): void;
}

// Destructured, because V8 folds constants of the same module, and loads another module's each time.
const { STARTED, FAILED, EXITED, DATA, ENDED, DRAINED, OVERFLOWED } = EVENT;
const { LOST, MEASURED, TREE_ENDED } = EVENT;

const listeners = new Map<number, Listener>();
/** Trees being ended: their child may have finished, and have no listener any more. */
const treeEnds = new Map<number, () => void>();
let opened: Port | undefined;
let loopRefs = 0;

/** Returns this environment's port. */
export function port(): Port {
  if (opened === undefined) {
    opened = new native!.addon.Port(dispatch);
    guardProcessState(opened);
    reportResources({
      names: () => [...listeners.values()].flatMap(({ resources }) => resources),
      handles: () => [...listeners.values()].flatMap(({ handles }) => handles),
    });
  }
  return opened;
}

/** Like `port`, but returns the errno if it cannot be opened. The next call tries again. */
export function tryPort(): Port | number {
  try {
    return port();
  } catch (error) {
    const number = /^errno (\d+)$/.exec((error as Error).message)?.[1];
    if (number === undefined) throw error;
    return Number(number);
  }
}

/**
 * Blocks until all children requested by this thread are started: a synchronous child may depend on an earlier one, which is
 * running by then on Node.
 */
export function waitForPendingStarts(): void {
  opened?.flush();
}

/** Sends a child's events to `listener`, until {@link forget}. */
export function listen(id: number, listener: Listener): void {
  listeners.set(id, listener);
}

export function forget(id: number): void {
  listeners.delete(id);
}

/** Calls back once, when a child's tree has ended. */
export function onceTreeEnded(id: number, onEnded: () => void): void {
  treeEnds.set(id, onEnded);
}

/** Keeps the event loop alive until {@link unrefLoop} is called as often. */
export function refLoop(): void {
  if (++loopRefs === 1) port().setReferenced(true);
}

export function unrefLoop(): void {
  if (--loopRefs === 0) port().setReferenced(false);
}

function dispatch(kind: number, id: number, a: number, b: number, bytes?: Buffer): void {
  if (kind === TREE_ENDED) {
    const onEnded = treeEnds.get(id);
    treeEnds.delete(id);
    onEnded?.();
    return;
  }
  const listener = listeners.get(id);
  // Events of a child run in the context of its start: AsyncLocalStorage returns the store of that call.
  listener?.runInAsyncScope(deliver, undefined, listener, kind, a, b, bytes);
}

function deliver(listener: Listener, kind: number, a: number, b: number, bytes?: Buffer): void {
  switch (kind) {
    case STARTED:
      return listener.onStarted();
    case FAILED:
      return listener.onFailed(a);
    case EXITED:
      return listener.onExited(a, b);
    case LOST:
      return listener.onLost(a, b);
    case DATA:
      return listener.pipes!.onData(a, bytes!);
    case ENDED:
      return listener.pipes!.onEnded(a, b, bytes);
    case DRAINED:
      return listener.pipes!.onDrained(a, b);
    case OVERFLOWED:
      return listener.pipes!.onOverflowed(a, bytes!);
    case MEASURED:
      return listener.onMeasured(bytes!);
  }
}

type Change = (...args: unknown[]) => unknown;

const changes = [
  'chdir',
  'umask',
  'setuid',
  'seteuid',
  'setgid',
  'setegid',
  'setgroups',
  'initgroups',
] as const;

/** Calls that end the process without exit handlers: queued children would be lost with the thread that starts them. */
const ends = ['abort', 'execve'] as const;

interface Flushing {
  flush(): void;
  flushAll(): void;
}

/**
 * Makes calls that change inherited state wait for children requested earlier, and calls that end the process wait for the
 * children of all threads. A worker can only end the process, by a signal.
 */
function guardProcessState(flushing: Flushing): void {
  const flush = (): void => flushing.flush();
  const flushAll = (): void => flushing.flushAll();
  // A child preempted before it leaves our descriptor table still holds a port that was just closed.
  guard(Server.prototype, 'listen', flush);
  // Called by `process.kill`, including a reference saved earlier.
  guard(process, '_kill', (pid, signal) => {
    if (signal !== 0 && endsUs(pid as number)) flushing.flushAll();
  });
  if (!isMainThread) return;
  for (const name of changes) guard(process, name, flush);
  for (const name of ends) guard(process, name, flushAll);
}

/** Returns true if a signal to `pid` may reach this process: its own id, or that of a group. */
function endsUs(pid: number): boolean {
  return pid <= 0 || pid === process.pid;
}

function guard(owner: object, name: string, before: Change): void {
  const state = owner as Record<string, Change | undefined>;
  const change = state[name];
  if (change === undefined) return;
  const guarded: Change = function (this: unknown, ...args) {
    before(...args);
    return change.apply(this, args);
  };
  Object.defineProperty(guarded, 'name', { value: name });
  Object.defineProperty(guarded, 'length', { value: change.length });
  state[name] = guarded;
}

interface Resources {
  names(): string[];
  handles(): object[];
}

/** Adds the engine's resources to the lists of Node, for code that looks for the reasons why the process stays alive. */
function reportResources({ names, handles }: Resources): void {
  const nodes = process as unknown as {
    getActiveResourcesInfo(): string[];
    _getActiveHandles(): object[];
  };
  const { getActiveResourcesInfo: info, _getActiveHandles: active } = nodes;
  nodes.getActiveResourcesInfo = function getActiveResourcesInfo() {
    return [...info.call(process), ...names()];
  };
  nodes._getActiveHandles = function _getActiveHandles() {
    // Called first: it may create a socket over a Node handle, which is then in the other list.
    const own = handles();
    return [...active.call(process), ...own];
  };
}
