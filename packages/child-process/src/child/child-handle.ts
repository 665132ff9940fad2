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
  hold,
  listen,
  onceTreeEnded,
  port,
  release,
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
/** Those that ask a process to end; all others are for the child alone. */
const endingSignals = new Set<number>([SIGABRT, SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGTERM]);
const terminalSignals = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGTSTP'];

/** Children whose exit waits, and whether it does so for this turn of the loop only. */
const waiting = new Map<ChildHandle, boolean>();

/** What a handle does to the `ChildProcess` it belongs to. */
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
 * What stands where Node has its Process handle: `child._handle`, with the same interface, so that
 * `ChildProcess.prototype`'s own methods work on it.
 */
export class ChildHandle extends AsyncResource implements Listener, Owner {
  readonly #child: HandledChild;
  #id = 0;
  #pid: number | undefined;
  #isSettled = false;
  #isAnnounced = false;
  #isSpawnEmitted = false;
  #isHeld = false;
  #isOver = false;
  #pipes: ChildPipes | undefined;
  #channel: Pipe | undefined;
  /** Whether the channel has yet to end when the exit is heard, because of what it brought. */
  #hadLastWords = false;
  /** Whether the exit, and what it closes by itself, is over. */
  #isExitDone = false;
  #hasFailed = false;
  /** Whether it has ended, nobody knows how. */
  #isLost = false;
  #extras: Extras | undefined;
  #measured: Measured | undefined;
  #treeEnd: PromiseWithResolvers<void> | undefined;

  constructor(child: HandledChild) {
    super('PROCESSWRAP', { requireManualDestroy: true });
    this.#child = child;
  }

  /** The engine has taken the child. */
  begin(id: number, pipes: ChildPipes): void {
    this.#id = id;
    this.#pipes = pipes;
    listen(id, this);
    this.ref();
  }

  /** It has options beyond Node's, or is watched. */
  extend(bits: number, extras: Extras): void {
    this.#extras = extras;
    if ((bits & (USAGE | TIMES)) === 0) return;
    this.#measured = new Measured();
    publishQueued(this.#child);
  }

  onMeasured(bytes: Buffer): void {
    if (this.#measured?.take(bytes)) this.#measured.publishStart(this.#child);
  }

  /** The near end of the child's channel, which libuv reads. */
  useChannel(pipe: Pipe): void {
    this.#channel = pipe;
  }

  /** The child is on its way. */
  announceSoon(): void {
    process.nextTick(announce, this);
  }

  /** It has failed already: there is nothing to wait for. */
  fail(): void {
    this.#settle(undefined);
  }

  /** As {@link waitForPid}, by Node's name. */
  get pid(): number | undefined {
    return this.waitForPid();
  }

  get pipes(): ChildPipes | undefined {
    return this.#pipes;
  }

  get hadLastWords(): boolean {
    return this.#hadLastWords;
  }

  /** Whether libuv is about to find something in the channel, its end perhaps. */
  get isChannelReadable(): boolean {
    const fd = this.#channel?.fd ?? -1;
    return fd >= 0 && native!.addon.isReadable(fd);
  }

  /** Blocks until the program runs. */
  waitForPid(): number | undefined {
    if (!this.#isSettled && this.#id !== 0) {
      const pid = port().waitStarted(this.#id);
      this.#settle(pid > 0 ? pid : undefined);
    }
    return this.#pid;
  }

  /** What Node has emitted by the next tick: for those who may be earlier than the engine. */
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

  /** Signals the child and its descendants, and kills what is left of them after `graceMs`: 0, or a negative error number. */
  endTree(signal: number, graceMs: number): number {
    if (this.#id === 0) return -ESRCH;
    const errno = port().endTree(this.#id, this.#isTree, signal, graceMs);
    if (errno !== 0 || this.#treeEnd !== undefined) return errno;
    this.#treeEnd = Promise.withResolvers();
    // Otherwise the program could end before those are killed that have not ended by themselves.
    hold();
    onceTreeEnded(this.#id, () => this.#onTreeEnded());
    return 0;
  }

  /** Whether its exit has yet to be heard. */
  get isRunning(): boolean {
    return !this.#isOver;
  }

  /** Settled once the tree that is being ended has ended. */
  get treeEnd(): Promise<void> | undefined {
    return this.#treeEnd?.promise;
  }

  /** The engine has closed the pipes that it reads. */
  #onTreeEnded(): void {
    this.#pipes?.hangUp();
    const fd = this.#channel?.fd ?? -1;
    if (fd >= 0) native!.addon.hangUp(fd);
    this.#treeEnd!.resolve();
    this.#treeEnd = undefined;
    release();
  }

  ref(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    hold();
  }

  unref(): void {
    this.#pipes?.adopt();
    this.#letGo();
  }

  /**
   * An output has closed. The exit that closed it is on its way through the engine, and must not find the loop gone
   * because nothing else kept it: libuv would have it by now. What the channel has to say is in libuv's hands, and comes first.
   */
  countOutput(isDestroyed: boolean): void {
    if (!this.#isOver && port().hasEnded(this.#id)) this.ref();
    if (this.#isChannelFirst(isDestroyed)) setImmediate(setImmediate, () => this.#countClose());
    else this.#countClose();
  }

  /** One of the things "close" waits for has happened. */
  #countClose(): void {
    const child = this.#child;
    child._closesGot++;
    if (child._closesGot !== child._closesNeeded) return;
    this.#end();
    child.emit('close', child.exitCode, child.signalCode);
  }

  /**
   * Whether the channel has something to say before an output that has closed now. An output that closes because of the
   * exit does so in the exit's turn of the loop, whatever the exit has done to the channel meanwhile. The channel of a child
   * that could not start has ended, though the engine still holds its other end; an output that the program has destroyed closes
   * in this turn of the loop, which has looked at the channel before.
   */
  #isChannelFirst(isDestroyed: boolean): boolean {
    if (this.#hasFailed) return !isDestroyed && (this.#channel?.fd ?? -1) >= 0;
    return this.#isExitDone && this.isChannelReadable;
  }

  hasRef(): boolean {
    return this.#isHeld;
  }

  /** What keeps the loop alive, by the names that Node has for it. */
  get resources(): string[] {
    const own = this.#isHeld ? ['ProcessWrap'] : [];
    return this.#pipes === undefined ? own : [...own, ...this.#pipes.resources];
  }

  /** The same as the objects they belong to, of those that libuv does not have. */
  get handles(): object[] {
    const streams = this.#pipes?.handles ?? [];
    return this.#isHeld ? [this.#child, ...streams] : streams;
  }

  close(): void {
    this.#letGo();
  }

  /** On the tick on which Node emits "spawn": a listener added later does not hear it. */
  announce(): void {
    this.#isAnnounced = true;
    if (this.#child.listenerCount('spawn') === 0) this.#isSpawnEmitted = true;
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
  }

  onFailed(errno: number): void {
    // The engine also reports a child that had failed by the time the call returned.
    if (this.#isOver) return;
    this.#settle(undefined);
    this.onexit(-errno);
  }

  onLost(pid: number, errno: number): void {
    this.#settle(pid);
    this.#isLost = true;
    this.onexit(-errno);
  }

  onExited(pid: number, status: number): void {
    this.#settle(pid);
    // What the channel brought, the end of a stream of Node's, or the Ctrl-C that ended the child, is in the kernel's hands
    // by now, and comes first: libuv looks at exits last.
    const isLate = this.#pipes?.hasNodes || this.isChannelReadable || handlesSignals();
    if (isLate || waiting.size > 0) this.#exitBehindTheLook(status);
    else this.#exit(status);
  }

  /**
   * Once libuv has looked at its descriptors after the end of the child: in this turn of the loop, or in the next. Not before the
   * exits that wait already.
   */
  #exitBehindTheLook(status: number): void {
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

  onData(stream: number, bytes: Buffer): void {
    this.#pipes!.onData(stream, bytes);
  }

  onEnded(stream: number, errno: number, bytes: Buffer | undefined): void {
    this.#pipes!.onEnded(stream, errno, bytes);
  }

  onOverflowed(stream: number, bytes: Buffer): void {
    this.#pipes!.onOverflowed(stream, bytes);
  }

  /** Node's own, in Node's order. A negative code is the error that kept the child from starting, or hides how it ended. */
  onexit(code: number, signal?: NodeJS.Signals): void {
    const child = this.#child;
    this.#isOver = true;
    this.#hasFailed = code < 0;
    if (this.#channel) setImmediate(setImmediate, () => (this.#isExitDone = true));
    this.#hadLastWords = this.isChannelReadable;
    if (signal === undefined) child.exitCode = code;
    else child.signalCode = signal;
    if (this.#measured) this.#tellMeasured(this.#measured);
    if (this.#channel && code >= 0) this.#pipes?.noteExit();
    this.#pipes?.closeInput(code >= 0);
    this.#letGo();
    child._handle = null;
    const call = this.#isLost ? 'waitid' : 'spawn';
    if (code < 0) child.emit('error', spawnError(code, child.spawnfile, child.spawnargs, call));
    else child.emit('exit', child.exitCode, child.signalCode);
    process.nextTick(resume, this);
    this.#countClose();
  }

  #tellMeasured(measured: Measured): void {
    const child = this.#child;
    if (this.#extras!.bits & USAGE) child.resourceUsage = measured.usage;
    measured.publishEnd(child, child.spawnfile);
  }

  /** Nothing can happen to the child any more. */
  #end(): void {
    forget(this.#id);
    this.emitDestroy();
  }

  #settle(pid: number | undefined): void {
    this.#isSettled = true;
    this.#pid = pid;
  }

  #letGo(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    release();
  }
}

// What Node's handle is called: a child is printed with it.
Object.defineProperty(ChildHandle, 'name', { value: 'Process' });

/** Whether this process handles signals that a terminal sends to it and its children alike. */
function handlesSignals(): boolean {
  return terminalSignals.some((name) => process.listenerCount(name) > 0);
}

function announce(handle: ChildHandle): void {
  handle.announce();
}

function resume(handle: ChildHandle): void {
  if (handle.pipes === undefined) return;
  handle.pipes.resume();
  // Where the channel is about to end, what has ended without a byte closes in this turn of the loop, as a stream of Node's.
  if (handle.hadLastWords) closeInTurn(native!.Pipe, () => flush(handle));
  else setImmediate(flush, handle);
}

function flush({ pipes, hadLastWords }: ChildHandle): void {
  pipes!.flush(hadLastWords);
}
