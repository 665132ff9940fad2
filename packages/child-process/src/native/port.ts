import type { AsyncResource } from 'node:async_hooks';
import { native } from './engine.ts';
import { tellResources } from './active-resources.ts';
import { guardProcessState } from './process-state.ts';
import { EVENT } from './wire.ts';

type Port = import('../../native.cjs').Port;

/** What the engine reports to a child. */
export interface Listener extends AsyncResource {
  /** What keeps the loop alive, by Node's names. */
  readonly resources: string[];
  /** The same as the objects that programs hold. */
  readonly handles: object[];
  onStarted(): void;
  onFailed(errno: number): void;
  /** `status` is the exit code, or a signal as a negative number. */
  onExited(pid: number, status: number): void;
  /** How it ended is unknown. */
  onLost(pid: number, errno: number): void;
  onData(stream: number, bytes: Buffer): void;
  onEnded(stream: number, errno: number, bytes: Buffer | undefined): void;
  onOverflowed(stream: number, bytes: Buffer): void;
  onMeasured(bytes: Buffer): void;
}

// Constants of this module, which V8 folds; it loads those of another module each time.
const { STARTED, FAILED, EXITED, DATA, ENDED, OVERFLOWED, LOST, MEASURED, TREE_ENDED } = EVENT;

const listeners = new Map<number, Listener>();
/** Trees that are being ended: their child may be over, and have no listener any more. */
const treeEnds = new Map<number, () => void>();
let opened: Port | undefined;
let holds = 0;

/** This environment's port. */
export function port(): Port {
  if (opened === undefined) {
    opened = new native!.addon.Port(dispatch);
    guardProcessState(opened);
    tellResources({
      names: () => [...listeners.values()].flatMap(({ resources }) => resources),
      handles: () => [...listeners.values()].flatMap(({ handles }) => handles),
    });
  }
  return opened;
}

/** The same, or the number of the system's error that keeps it from being opened. The next call tries again. */
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
 * Blocks until every child that this thread has asked for has been started: one that is waited for may be about another, which runs
 * by then on Node.
 */
export function startEarlierOnes(): void {
  opened?.flush();
}

/** Sends a child's events to `listener`, until {@link forget}. */
export function listen(id: number, listener: Listener): void {
  listeners.set(id, listener);
}

export function forget(id: number): void {
  listeners.delete(id);
}

/** Calls back once, when the tree of a child has ended. */
export function onceTreeEnded(id: number, onEnded: () => void): void {
  treeEnds.set(id, onEnded);
}

/** Keeps the event loop alive, until as many calls of {@link release}. */
export function hold(): void {
  if (++holds === 1) port().setReferenced(true);
}

export function release(): void {
  if (--holds === 0) port().setReferenced(false);
}

function dispatch(kind: number, id: number, a: number, b: number, bytes?: Buffer): void {
  if (kind === TREE_ENDED) {
    const onEnded = treeEnds.get(id);
    treeEnds.delete(id);
    onEnded?.();
    return;
  }
  const listener = listeners.get(id);
  // Events of a child are emitted in the context of its start: AsyncLocalStorage sees the store of that call.
  listener?.runInAsyncScope(tell, undefined, listener, kind, a, b, bytes);
}

function tell(listener: Listener, kind: number, a: number, b: number, bytes?: Buffer): void {
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
      return listener.onData(a, bytes!);
    case ENDED:
      return listener.onEnded(a, b, bytes);
    case OVERFLOWED:
      return listener.onOverflowed(a, bytes!);
    case MEASURED:
      return listener.onMeasured(bytes!);
  }
}
