import type { Socket } from 'node:net';
import { native } from '../native/engine.ts';
import { isUsedAsStdio, OutputStream } from '../native/output-stream.ts';
import { closedSocket, pastOutput, type Unseen } from '../native/late-socket.ts';
import { closeInTurn } from '../native/pipe.ts';
import { port, refLoop, unrefLoop, type PipeListener } from '../native/port.ts';
import { STDIO } from '../native/wire.ts';
import { setImmediate } from '../node/timers.ts';
import { ChildInput } from './child-input.ts';

const { COLLECT, PIPE } = STDIO;

/** Receives the output of a child whose streams are not used. */
export interface Collection {
  onCollected(index: number, bytes: Buffer | undefined): void;
  onOverflowed(index: number, bytes: Buffer): void;
  /** Switches to the output as a stream. */
  attach(index: number, stream: Socket): void;
}

type Uncollected = import('../../native.cjs').Uncollected;

interface Ended extends Unseen {
  /** Number of times the loop had polled when that was reported. */
  readonly polls: number;
}

export interface Owner {
  /** Counts an output that is finished, because the program has closed it or because it has ended. */
  countOutput(isDestroyed: boolean): void;
  /** True if libuv is about to read data or the end of the channel. */
  readonly isChannelReadable: boolean;
  /** True once "close" has been emitted, or is about to be. */
  readonly hasClosed: boolean;
}

/** The near ends of a child's pipes. A socket is made on first access: most are never accessed. */
export class ChildPipes implements PipeListener {
  readonly #id: number;
  readonly #codes: readonly number[];
  readonly #collection: Collection | undefined;
  readonly #owner: Owner;
  readonly #onClosed: () => void;
  readonly #sockets: (Socket | undefined)[] = [];
  /** Outputs that ended without a socket. */
  readonly #ended = new Map<number, Ended>();
  /** Outputs without a socket that have not ended. */
  #untouched: number;
  readonly #input: ChildInput;
  #hasExited = false;
  #isFlushed = false;
  /** Number of times the loop had polled when the child was queued. */
  readonly #pollsBefore: number;
  /** "spawn" is being emitted. */
  #isStarting = false;
  /** True once the engine has reported output, or that there will be none. */
  #hasOutputEvents = false;
  /** Untouched outputs after the flush: each keeps the loop alive. */
  #draining = new Set<number>();
  readonly #resumed: boolean[] = [];
  /** Output collected before an abort or a limit stopped the collection; the stream is not closed yet. */
  readonly #stopped = new Map<number, Uncollected>();
  /** Outputs of a child with a channel that another process still held when the exit was reported. */
  readonly #outliving = new Set<number>();

  constructor(
    id: number,
    codes: readonly number[],
    collection: Collection | undefined,
    owner: Owner,
  ) {
    this.#id = id;
    this.#codes = codes;
    this.#collection = collection;
    this.#input = new ChildInput(id);
    this.#owner = owner;
    this.#onClosed = () => owner.countOutput(false);
    this.#untouched = this.outputs;
    this.#pollsBefore = collection === undefined ? 0 : port().looks();
  }

  /** Number of pipes that the child's "close" waits for. */
  get outputs(): number {
    let count = 0;
    for (let index = 1; index < this.#codes.length; index++) if (this.#isPipe(index)) count++;
    return count;
  }

  /** libuv's names for those of these pipes that it does not have. */
  get resources(): string[] {
    const open = this.#codes.filter((_, index) => {
      const socket = this.#sockets[index];
      if (!this.#isPipe(index) || this.#ended.has(index)) return false;
      if (socket === undefined) return !this.#isFlushed || this.#draining.has(index);
      return socket instanceof OutputStream && socket.isReading;
    });
    return open.map(() => 'PipeWrap');
  }

  /** The sockets, created if necessary, of the pipes that libuv does not have. */
  get handles(): Socket[] {
    const sockets = this.all().filter((socket) => socket instanceof OutputStream);
    return sockets.filter((socket) => !socket.isAdopted && !socket.destroyed);
  }

  /** True if libuv has one of the outputs, or input that is not written yet. */
  get hasNodes(): boolean {
    return this.#sockets.some(
      (socket, index) =>
        socket !== undefined &&
        (index > 0 || socket.writableLength > 0) &&
        !socket.destroyed &&
        !(socket instanceof OutputStream && !socket.isAdopted),
    );
  }

  get(index: number): Socket | null {
    if (!this.#isPipe(index)) return null;
    return (this.#sockets[index] ??=
      index === 0 ? this.#input.open(this.#owner.hasClosed) : this.#makeOutput(index));
  }

  all(): (Socket | null)[] {
    return this.#codes.map((_, index) => this.get(index));
  }

  /** Uses streams of Node's own as the near ends. */
  use(streams: readonly (Socket | null)[]): void {
    for (const [index, stream] of streams.entries()) this.#sockets[index] = stream ?? undefined;
  }

  /** Called after "spawn" was emitted. */
  onSpawned(): void {
    this.#input.onSpawned();
  }

  /** The program runs, and "spawn" is about to be emitted: Node emits it before the loop polls for output. */
  onStarted(): void {
    if (this.#collection === undefined) return;
    this.#isStarting = true;
    setImmediate(() => (this.#isStarting = false)).unref();
  }

  onData(index: number, bytes: Buffer): void {
    this.#hasOutputEvents = true;
    const socket = this.#sockets[index];
    if (socket instanceof OutputStream) socket.onData(bytes);
  }

  onEnded(index: number, errno: number, bytes: Buffer | undefined): void {
    this.#hasOutputEvents = true;
    const socket = this.#sockets[index];
    if (socket instanceof OutputStream) {
      // libuv reads once per turn of the loop: after bytes, the end comes in the next turn, after the channel's data.
      if (socket.bytesRead > 0 && this.#owner.isChannelReadable) {
        setImmediate(setImmediate, () => socket.onEnded(errno));
      } else socket.onEnded(errno);
      return;
    }
    this.#collection?.onCollected(index, bytes);
    this.#endUntouched(index, bytes?.length ?? 0);
  }

  /** An output ended whose bytes, or the first of them, were discarded. */
  onDrained(index: number, bytes: number): void {
    const socket = this.#sockets[index];
    if (socket instanceof OutputStream) socket.onDrained(bytes);
    else this.#endUntouched(index, bytes);
  }

  onOverflowed(index: number, bytes: Buffer): void {
    this.#hasOutputEvents = true;
    this.#collection?.onOverflowed(index, bytes);
  }

  /** The exit of a child with a channel is about to be reported, and may end outputs that other processes hold. */
  markOutliving(): void {
    for (let index = 1; index < this.#codes.length; index++) {
      if (!this.#isPipe(index) || this.#isTouched(index)) continue;
      if (!port().hasHungUp(this.#id, index)) this.#outliving.add(index);
    }
  }

  /** The process has ended or never ran, so stdin has no reader. */
  closeInput(hasExited: boolean): void {
    this.#input.close();
    this.#hasExited = hasExited;
    this.#hasOutputEvents ||= hasExited;
    this.#sockets[0]?.destroy();
  }

  /** After the exit, discards output without a reader, so that it ends. */
  resume(): void {
    for (let index = 1; index < this.#sockets.length; index++) {
      const socket = this.#sockets[index];
      if (socket === undefined || this.#resumed[index]) continue;
      this.#resumed[index] = true;
      if (socket.readable && !isUsedAsStdio(socket)) socket.resume();
    }
  }

  /**
   * Does the same for outputs that were never accessed, a moment later: code after `await once(child, 'exit')` may still
   * access them. libuv reads once per turn of the loop: if the channel's last data came with the exit, an output's last
   * bytes did too, and both ends come in the next turn. So do the ends of outputs that the exit itself has ended, and the
   * channel's end with them.
   */
  flush(wasChannelReadable: boolean): void {
    this.resume();
    this.#isFlushed = true;
    if (this.#untouched === 0 && this.#sockets[0] !== undefined) return;
    const isEmpty = (_: number, index: number): boolean => port().isAtEnd(this.#id, index);
    const empty = wasChannelReadable ? this.#codes.map(isEmpty) : [];
    const drained = port().drain(this.#id);
    const polls = port().looks();
    let ended = 0;
    for (let index = 1; index < this.#codes.length; index++) {
      if (!this.#isPipe(index) || this.#isTouched(index)) continue;
      const bytes = drained[index] ?? 0;
      if (this.#codes[index] === PIPE && bytes >= 0) {
        this.#untouched--;
        const hasOutlived = this.#outliving.has(index);
        this.#ended.set(index, { bytes, hasFlowed: hasOutlived || bytes > 0, polls });
        if (hasOutlived) setImmediate(closeInTurn, native!.Pipe, this.#onClosed);
        else if (wasChannelReadable && !empty[index]) setImmediate(this.#onClosed);
        else ended++;
        continue;
      }
      this.#draining.add(index);
      refLoop();
    }
    for (; ended > 0; ended--) this.#onClosed();
  }

  /**
   * Ends the collection with the data received. A child that is about to be signalled may write immediately, and the engine
   * would read that before {@link discard} closes the outputs; Node's loop does not poll in between.
   */
  stopCollecting(): void {
    for (const index of this.#collected()) this.#stopped.set(index, this.#uncollect(index));
  }

  /** The signal was not sent, so further output is wanted. */
  resumeCollecting(): void {
    for (const index of this.#stopped.keys()) this.get(index);
  }

  /**
   * Ends the collection with the data received, and closes the outputs. The child is killed after that, like in Node: one
   * that still writes ends with SIGPIPE.
   */
  discard(kill?: () => void): void {
    const hasEnded = this.#hasPolled && (!this.#input.isClosed || this.#hasExited);
    const open: number[] = [];
    const last: [index: number, bytes: Buffer | undefined][] = [];
    for (const index of this.#collected()) {
      const { ended, bytes } = this.#uncollect(index);
      last.push([index, bytes]);
      this.#sockets[index] = closedSocket(ended && hasEnded);
      this.#touch(index);
      closeInTurn(native!.Pipe, this.#onClosed);
      if (!ended) open.push(index);
    }
    // After the last read: a child that notices a closed output would write its error message to the next one.
    for (const index of open) port().closeStream(this.#id, index);
    this.#sockets[1]?.destroy();
    this.#sockets[2]?.destroy();
    kill?.();
    // Last, because it may throw: the output may be longer than a string can be.
    for (const [index, bytes] of last) this.#collection?.onCollected(index, bytes);
  }

  /** Makes the pipes that libuv has end after their remaining data. The engine does the same for the others. */
  hangUp(): void {
    for (const socket of this.#sockets) {
      const { _handle: handle } = (socket ?? {}) as { _handle?: { fd?: number } | null };
      if (handle?.fd !== undefined && handle.fd >= 0) native!.addon.hangUp(handle.fd);
    }
  }

  /** Leaves it to Node which of the outputs keep the loop alive. */
  adopt(): void {
    for (let index = 1; index < this.#codes.length; index++) {
      const socket = this.get(index);
      if (socket instanceof OutputStream) socket.adopt();
    }
  }

  /** Returns the outputs that are still being collected. */
  #collected(): number[] {
    return [...this.#codes.keys()].filter(
      (index) => this.#codes[index] === COLLECT && !this.#isTouched(index),
    );
  }

  #uncollect(index: number): Uncollected {
    const stopped = this.#stopped.get(index);
    this.#stopped.delete(index);
    return stopped ?? port().uncollect(this.#id, index, !this.#hasPolled);
  }

  /** True if the loop has polled for output at least once: Node would not have read earlier output yet. */
  get #hasPolled(): boolean {
    return this.#hasOutputEvents || (!this.#isStarting && port().looks() > this.#pollsBefore);
  }

  #isPipe(index: number): boolean {
    return this.#codes[index] === PIPE || this.#codes[index] === COLLECT;
  }

  /** True if it has a socket, or needs none. */
  #isTouched(index: number): boolean {
    return this.#sockets[index] !== undefined || this.#ended.has(index);
  }

  #makeOutput(index: number): Socket {
    const past = this.#ended.get(index);
    if (past !== undefined) return this.#makeEnded(index, past);
    const isCollected = this.#codes[index] === COLLECT;
    if (this.#owner.hasClosed) return this.#makePast(index, { bytes: 0, hasFlowed: isCollected });
    if (port().isEndSeen(this.#id, index)) return this.#endSeen(index);
    if (this.#hasExited && port().isAtEnd(this.#id, index)) return this.#endUnseen(index);
    const discarded = this.#isFlushed ? port().stopDraining(this.#id, index) : 0;
    const stream = new OutputStream(this.#id, index, discarded);
    this.#sockets[index] = stream;
    this.#touch(index);
    stream.on('close', () => this.#owner.countOutput(!stream.readableEnded));
    if (!isCollected) {
      stream.start();
      // Another process holds it, and it has been flowing since the exit.
      return this.#isFlushed ? stream.resume() : stream;
    }
    this.#collection!.attach(index, stream);
    const { ended, bytes } = this.#uncollect(index);
    if (bytes.length > 0) stream.onData(bytes);
    // The collector would have read that from Node's socket by now, despite a pause.
    if (this.#hasPolled) stream.read();
    // The engine is ahead of the loop: data before the end is still on its way, until the loop has polled.
    if (ended) setImmediate(setImmediate, () => stream.isAdopted || stream.onEnded(0));
    else stream.start();
    return stream;
  }

  #endUntouched(index: number, bytes: number): void {
    if (this.#isTouched(index)) return;
    this.#ended.set(index, { bytes, hasFlowed: true, polls: port().looks() });
    const hasOutlived = this.#draining.has(index);
    this.#touch(index);
    // libuv closes ended pipes after its poll: the channel's data of this turn comes first.
    if (hasOutlived) closeInTurn(native!.Pipe, this.#onClosed);
    else this.#onClosed();
  }

  /**
   * Creates a socket for an output that ended before the first access. Node's socket reads its end one turn of the loop after the
   * bytes, which may be after the exit; an output without a byte has ended before that.
   */
  #makeEnded(index: number, ended: Ended): Socket {
    const { bytes, polls } = ended;
    const hasTurned = port().looks() > polls || port().isEndSeen(this.#id, index);
    if (this.#owner.hasClosed || hasTurned) return this.#makePast(index, ended);
    if (this.#isFlushed || bytes === 0) return closedSocket(true, ended);
    const stream = new OutputStream(this.#id, index);
    stream.onEnded(0);
    return stream;
  }

  /** Closes an output without a byte whose end Node has seen, and returns its socket. */
  #endSeen(index: number): Socket {
    const isCollected = this.#codes[index] === COLLECT;
    const bytes = isCollected ? this.#uncollect(index).bytes : undefined;
    this.#collection?.onCollected(index, bytes);
    port().closeStream(this.#id, index);
    this.#touch(index);
    process.nextTick(this.#onClosed);
    return this.#makePast(index, { bytes: bytes?.length ?? 0, hasFlowed: isCollected });
  }

  #makePast(index: number, unseen: Unseen): Socket {
    if (this.#codes[index] !== COLLECT) return pastOutput(unseen);
    return pastOutput(unseen, (socket) => this.#collection!.attach(index, socket));
  }

  /** Does the same for an output whose end comes in this turn of the loop: its "close" is to come. */
  #endUnseen(index: number): Socket {
    port().closeStream(this.#id, index);
    const socket = closedSocket();
    this.#sockets[index] = socket;
    this.#touch(index);
    return socket.on('close', this.#onClosed);
  }

  /** Marks an output as accessed. */
  #touch(index: number): void {
    this.#untouched--;
    if (this.#draining.delete(index)) unrefLoop();
  }
}
