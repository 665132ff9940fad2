import type { AsyncResource } from 'node:async_hooks';
import { native } from './engine.ts';
import { reportResources } from './active-resources.ts';
import { guardProcessState } from './process-state.ts';
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
