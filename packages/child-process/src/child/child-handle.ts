import { AsyncResource } from 'node:async_hooks';
import type { EventEmitter } from 'node:events';
import { constants } from 'node:os';
import type { ChildPipes, Owner } from './child-pipes.ts';
import { Measured, publishQueued } from './monitor.ts';
import { native } from '../native/engine.ts';
import { spawnError } from '../errors.ts';
import { closeInTurn, type Pipe } from '../native/pipe.ts';
import {
  forget,
  listen,
  onceTreeEnded,
  port,
  refLoop,
  unrefLoop,
  type Listener,
} from '../native/port.ts';
import { EXTRA } from '../native/wire.ts';
import type { ChildResourceUsage } from '../options.ts';
import type { Extras } from '../plan/extras.ts';
import { signalName } from '../plan/signals.ts';
import { setImmediate } from '../node/timers.ts';

const { ESRCH } = constants.errno;
const { TIMES, TREE, USAGE } = EXTRA;
const { SIGABRT, SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM } = constants.signals;
/** Signals that ask a process to end; all others go to the child alone. */
const endingSignals = new Set<number>([SIGABRT, SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM]);
const terminalSignals = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGTSTP'];

/** Children whose exit is delayed; true if only for this turn of the loop. */
const waiting = new Map<ChildHandle, boolean>();

/** The parts of a `ChildProcess` that its handle changes. */
export interface HandledChild extends EventEmitter {
  _handle: ChildHandle | null;
  readonly spawnfile: string;
  readonly spawnargs: string[];
  exitCode: number | null;
  signalCode: NodeJS.Signals | null;
  _closesGot: number;
  readonly _closesNeeded: number;
  resourceUsage?: ChildResourceUsage | undefined;
}

/**
 * Replaces Node's Process handle: `child._handle`, with the same interface, so that `ChildProcess.prototype`'s own methods
 * work on it.
 */
export class ChildHandle extends AsyncResource implements Listener, Owner {
  readonly #child: HandledChild;
  #id = 0;
  #pid: number | undefined;
  #isPidKnown = false;
  #isAnnounced = false;
  #isSpawnEmitted = false;
  #isRef = false;
  #isOver = false;
  #pipes: ChildPipes | undefined;
  #channel: Pipe | undefined;
  /** True if the channel was readable at the exit: its end follows. */
  #wasChannelReadable = false;
  /** True once the exit has been handled, with everything it closes by itself. */
  #isExitDone = false;
  #hasFailed = false;
  /** True if it has ended and its status is unknown. */
  #isLost = false;
  #extras: Extras | undefined;
  #measured: Measured | undefined;
  #treeEnd: PromiseWithResolvers<void> | undefined;

  constructor(child: HandledChild) {
    super('PROCESSWRAP', { requireManualDestroy: true });
    this.#child = child;
  }

  /** Called when the engine has accepted the child. */
  begin(id: number, pipes: ChildPipes): void {
    this.#id = id;
    this.#pipes = pipes;
    listen(id, this);
    this.ref();
  }

  /** Enables options beyond Node's, and monitoring. */
  extend(bits: number, extras: Extras): void {
    this.#extras = extras;
    if ((bits & (USAGE | TIMES)) === 0) return;
    this.#measured = new Measured();
    publishQueued(this.#child);
  }

  onMeasured(bytes: Buffer): void {
    if (this.#measured?.take(bytes)) this.#measured.publishStart(this.#child);
  }

  /**
   * Stores the near end of the child's channel, which libuv reads. Schedules `announce`: the child is being started.
   */
  useChannel(pipe: Pipe): void {
    this.#channel = pipe;
  }

  /** The child is on its way. */
  announceSoon(): void {
    process.nextTick(announce, this);
  }

  /** The start has already failed: marks the pid as known to be missing. */
  fail(): void {
    this.#setPid(undefined);
  }

  /** Same as {@link waitForPid}, under Node's name. */
  get pid(): number | undefined {
    return this.waitForPid();
  }

  get pipes(): ChildPipes | undefined {
    return this.#pipes;
  }

  get hasClosed(): boolean {
    return this.#child._closesGot === this.#child._closesNeeded;
  }

  get wasChannelReadable(): boolean {
    return this.#wasChannelReadable;
  }

  /** True if libuv is about to read data or the end of the channel. */
  get isChannelReadable(): boolean {
    const fd = this.#channel?.fd ?? -1;
    return fd >= 0 && native!.addon.isReadable(fd);
  }

  /** Blocks until the program runs. */
  waitForPid(): number | undefined {
    if (!this.#isPidKnown && this.#id !== 0) {
      const pid = port().waitStarted(this.#id);
      this.#setPid(pid > 0 ? pid : undefined);
    }
    return this.#pid;
  }

  /** Emits the "spawn" that Node would have emitted by the next tick, for callers that may run before the engine's report. */
  confirmSpawn(): void {
    if (this.#isAnnounced && this.waitForPid() !== undefined) this.#emitSpawn();
  }

  kill(signal: number): number {
    if (this.#isTree && endingSignals.has(signal))
      return this.endTree(signal, this.#extras!.graceMs);
    return this.#id === 0 ? -ESRCH : port().kill(this.#id, signal);
  }

  get #isTree(): boolean {
    return this.#extras !== undefined && (this.#extras.bits & TREE) !== 0;
  }

  /** Signals the child and its descendants, and kills the remaining ones after `graceMs`. Returns 0 or a negative errno. */
  endTree(signal: number, graceMs: number): number {
    if (this.#id === 0) return -ESRCH;
    const errno = port().endTree(this.#id, this.#isTree, signal, graceMs);
    if (errno !== 0 || this.#treeEnd !== undefined) return errno;
    this.#treeEnd = Promise.withResolvers();
    // Otherwise this process could end before the remaining ones are killed.
    refLoop();
    onceTreeEnded(this.#id, () => this.#onTreeEnded());
    return 0;
  }

  /** True until its exit has been reported. */
  get isRunning(): boolean {
    return !this.#isOver;
  }

  /** Settled once the tree being ended has ended. */
  get treeEnd(): Promise<void> | undefined {
    return this.#treeEnd?.promise;
  }

  /** Called when the engine has closed the pipes that it reads. */
  #onTreeEnded(): void {
    this.#pipes?.hangUp();
    const fd = this.#channel?.fd ?? -1;
    if (fd >= 0) native!.addon.hangUp(fd);
    this.#treeEnd!.resolve();
    this.#treeEnd = undefined;
    unrefLoop();
  }

  ref(): void {
    if (this.#isRef) return;
    this.#isRef = true;
    refLoop();
  }

  unref(): void {
    this.#pipes?.adopt();
    this.#letGo();
  }

  /**
   * Counts a closed output. The exit that closed it may be on its way through the engine, and the loop must not end before
   * it arrives: libuv would have it by now. Data in the channel is libuv's to read, and comes first.
   */
  countOutput(isDestroyed: boolean): void {
    if (!this.#isOver && port().hasEnded(this.#id)) this.ref();
    if (this.#isChannelFirst(isDestroyed)) setImmediate(setImmediate, () => this.#countClose());
    else this.#countClose();
  }

  /** Counts one of the events that "close" waits for. */
  #countClose(): void {
    const child = this.#child;
    child._closesGot++;
    if (child._closesGot !== child._closesNeeded) return;
    this.#end();
    child.emit('close', child.exitCode, child.signalCode);
  }

  /**
   * Returns true if the channel has data to deliver before an output that has closed now. An output that closes because of
   * the exit does so in the exit's turn of the loop, whatever the exit has done to the channel meanwhile. The channel of a
   * child that could not start has ended, though the engine still holds its other end; an output that the program has
   * destroyed closes in this turn of the loop, which has read the channel before.
   */
  #isChannelFirst(isDestroyed: boolean): boolean {
    if (this.#hasFailed) return !isDestroyed && (this.#channel?.fd ?? -1) >= 0;
    return this.#isExitDone && this.isChannelReadable;
  }

  hasRef(): boolean {
    return this.#isRef;
  }

  /** The resources that keep the loop alive, by Node's names. */
  get resources(): string[] {
    const own = this.#isRef ? ['ProcessWrap'] : [];
    return this.#pipes === undefined ? own : [...own, ...this.#pipes.resources];
  }

  /** The objects that own these resources, except for those that libuv has. */
  get handles(): object[] {
    const streams = this.#pipes?.handles ?? [];
    return this.#isRef ? [this.#child, ...streams] : streams;
  }

  close(): void {
    this.#letGo();
  }

  /** Runs in the tick in which Node emits "spawn": listeners added later do not get it. */
  announce(): void {
    this.#isAnnounced = true;
    if (this.#child.listenerCount('spawn') === 0) this.#passSpawn();
    else if (port().announce(this.#id)) this.#emitSpawn();
  }

  onStarted(): void {
    this.#pipes?.onStarted();
    this.#emitSpawn();
  }

  #emitSpawn(): void {
    if (this.#isSpawnEmitted) return;
    this.#isSpawnEmitted = true;
    this.#child.emit('spawn');
    this.#pipes?.onSpawned();
  }

  /** Skips the event: without listeners, the program's start need not be known. */
  #passSpawn(): void {
    this.#isSpawnEmitted = true;
    this.#pipes?.onSpawned();
  }

  onFailed(errno: number): void {
    // The engine also reports a child that had failed by the time the call returned.
    if (this.#isOver) return;
    this.#setPid(undefined);
    this.onexit(-errno);
  }

  onLost(pid: number, errno: number): void {
    this.#setPid(pid);
    this.#isLost = true;
    this.onexit(-errno);
  }

  onExited(pid: number, status: number): void {
    this.#setPid(pid);
    // The channel's data, the end of a Node stream, or the Ctrl-C that ended the child is in the kernel by now and comes
    // first: libuv handles exits last.
    const isLate = this.#pipes?.hasNodes || this.isChannelReadable || handlesSignals();
    if (isLate || waiting.size > 0) this.#exitAfterPoll(status);
    else this.#exit(status);
  }

  /**
   * Reports the exit after libuv's next poll since the child's end: in this turn of the loop, or in the next. Never before
   * exits that are already waiting.
   */
  #exitAfterPoll(status: number): void {
    const isNext = port().endedBeforeLook(this.#id) && ![...waiting.values()].includes(false);
    const exit = (): void => {
      waiting.delete(this);
      this.#exit(status);
    };
    waiting.set(this, isNext);
    if (isNext) setImmediate(exit);
    else setImmediate(setImmediate, exit);
  }

  #exit(status: number): void {
    if (status < 0) this.onexit(0, signalName(-status));
    else this.onexit(status);
  }

  /** Node's own handler, in Node's order. A negative code is the error that prevented the start, or hides the exit status. */
  onexit(code: number, signal?: NodeJS.Signals): void {
    const child = this.#child;
    this.#isOver = true;
    this.#hasFailed = code < 0;
    if (this.#channel) setImmediate(setImmediate, () => (this.#isExitDone = true));
    this.#wasChannelReadable = this.isChannelReadable;
    if (signal === undefined) child.exitCode = code;
    else child.signalCode = signal;
    if (this.#measured) this.#publishMeasured(this.#measured);
    if (this.#channel && code >= 0) this.#pipes?.markOutliving();
    this.#pipes?.closeInput(code >= 0);
    this.#letGo();
    child._handle = null;
    const call = this.#isLost ? 'waitid' : 'spawn';
    if (code < 0) child.emit('error', spawnError(code, child.spawnfile, child.spawnargs, call));
    else child.emit('exit', child.exitCode, child.signalCode);
    process.nextTick(resume, this);
    this.#countClose();
  }

  #publishMeasured(measured: Measured): void {
    const child = this.#child;
    if (this.#extras!.bits & USAGE) child.resourceUsage = measured.usage;
    measured.publishEnd(child, child.spawnfile);
  }

  /** Releases the child: no further event is possible. */
  #end(): void {
    forget(this.#id);
    this.emitDestroy();
  }

  #setPid(pid: number | undefined): void {
    this.#isPidKnown = true;
    this.#pid = pid;
  }

  #letGo(): void {
    if (!this.#isRef) return;
    this.#isRef = false;
    unrefLoop();
  }
}

// The name of Node's handle, which is printed with a child.
Object.defineProperty(ChildHandle, 'name', { value: 'Process' });

/** Returns true if this process handles signals that a terminal sends to it and its children alike. */
function handlesSignals(): boolean {
  return terminalSignals.some((name) => process.listenerCount(name) > 0);
}

function announce(handle: ChildHandle): void {
  handle.announce();
}

function resume(handle: ChildHandle): void {
  if (handle.pipes === undefined) return;
  handle.pipes.resume();
  // If the channel is about to end, outputs that ended without a byte close in this turn of the loop, like Node's streams.
  if (handle.wasChannelReadable) closeInTurn(native!.Pipe, () => flush(handle));
  else setImmediate(flush, handle);
}

function flush({ pipes, wasChannelReadable }: ChildHandle): void {
  pipes!.flush(wasChannelReadable);
}
