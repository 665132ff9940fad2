import { Socket } from 'node:net';
import { native } from '../native/engine.ts';
import { OutputStream } from '../native/output-stream.ts';
import { closeInTurn, closedSocket, openPipe } from '../native/pipe.ts';
import { hold, port, release } from '../native/port.ts';
import { STDIO } from '../native/wire.ts';
import { setImmediate } from '../node/timers.ts';

const { COLLECT, PIPE } = STDIO;

/** Takes the output of a child that nobody streams. */
export interface Collection {
  onCollected(index: number, bytes: Buffer | undefined): void;
  onOverflowed(index: number, bytes: Buffer): void;
  /** From now on the output comes as a stream. */
  attach(index: number, stream: Socket): void;
}

type Uncollected = import('../../native.cjs').Uncollected;

/** Whose pipes they are. */
export interface Owner {
  /** Nothing more comes out of one of the outputs, because the program has closed it or because it has ended. */
  countOutput(isDestroyed: boolean): void;
  /** Whether libuv is about to find something in the channel, its end perhaps. */
  readonly isChannelReadable: boolean;
}

/** The near ends of a child's pipes. A socket is made when somebody looks at it: most are never looked at. */
export class ChildPipes {
  readonly #id: number;
  readonly #codes: readonly number[];
  readonly #collection: Collection | undefined;
  readonly #owner: Owner;
  readonly #onClosed: () => void;
  readonly #sockets: (Socket | undefined)[] = [];
  /** Outputs that ended without a socket, and whether anything came out of them. */
  readonly #ended = new Map<number, boolean>();
  /** Outputs without a socket that have not ended. */
  #untouched: number;
  #isInputClosed = false;
  #hasExited = false;
  #isFlushed = false;
  /** How often the loop had looked at its descriptors when the child was queued. */
  readonly #looksBefore: number;
  /** "spawn" is being emitted. */
  #isStarting = false;
  /** Whether the engine has reported output, or that there will be none. */
  #hasHeard = false;
  /** Of those, after the flush: each keeps the loop alive. */
  #draining = new Set<number>();
  readonly #resumed: boolean[] = [];
  /** Of those that are no longer collected, and not closed either: what had come. */
  readonly #stopped = new Map<number, Uncollected>();
  /** Outputs that another process held when the exit was heard, of a child with a channel. */
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
    this.#owner = owner;
    this.#onClosed = () => owner.countOutput(false);
    this.#untouched = this.outputs;
    this.#looksBefore = collection === undefined ? 0 : port().looks();
  }

  /** How many pipes the child's "close" waits for. */
  get outputs(): number {
    let count = 0;
    for (let index = 1; index < this.#codes.length; index++) if (this.#isPipe(index)) count++;
    return count;
  }

  /** What libuv would have for these pipes, of those it does not have. */
  get resources(): string[] {
    const open = this.#codes.filter((_, index) => {
      const socket = this.#sockets[index];
      if (!this.#isPipe(index) || this.#ended.has(index)) return false;
      if (socket === undefined) return !this.#isFlushed || this.#draining.has(index);
      return socket instanceof OutputStream && socket.isReading;
    });
    return open.map(() => 'PipeWrap');
  }

  /** The sockets, made if need be, of the pipes that libuv does not have. */
  get handles(): Socket[] {
    const sockets = this.all().filter((socket) => socket instanceof OutputStream);
    return sockets.filter((socket) => !socket.isAdopted && !socket.destroyed);
  }

  /** Whether libuv has one of the outputs, or input that is not written yet. */
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
    return (this.#sockets[index] ??= index === 0 ? this.#makeInput() : this.#makeOutput(index));
  }

  all(): (Socket | null)[] {
    return this.#codes.map((_, index) => this.get(index));
  }

  /** Streams of Node's own are the near ends. */
  use(streams: readonly (Socket | null)[]): void {
    for (const [index, stream] of streams.entries()) this.#sockets[index] = stream ?? undefined;
  }

  /** The program runs, and "spawn" is about to be emitted: Node emits it before the loop looks for output. */
  onStarted(): void {
    if (this.#collection === undefined) return;
    this.#isStarting = true;
    setImmediate(() => (this.#isStarting = false)).unref();
  }

  onData(index: number, bytes: Buffer): void {
    this.#hasHeard = true;
    const socket = this.#sockets[index];
    if (socket instanceof OutputStream) socket.onData(bytes);
  }

  onEnded(index: number, errno: number, bytes: Buffer | undefined): void {
    this.#hasHeard = true;
    const socket = this.#sockets[index];
    if (socket instanceof OutputStream) {
      // libuv reads once in a turn of the loop: after the bytes, the end comes in the next, behind what the channel says.
      if (socket.bytesRead > 0 && this.#owner.isChannelReadable) {
        setImmediate(setImmediate, () => socket.onEnded(errno));
      } else socket.onEnded(errno);
      return;
    }
    this.#collection?.onCollected(index, bytes);
    this.#endUntouched(index, bytes !== undefined && bytes.length > 0);
  }

  onOverflowed(index: number, bytes: Buffer): void {
    this.#hasHeard = true;
    this.#collection?.onOverflowed(index, bytes);
  }

  /** The exit of a child with a channel is about to be heard, and may end what others hold. */
  noteExit(): void {
    for (let index = 1; index < this.#codes.length; index++) {
      if (!this.#isPipe(index) || this.#isSettled(index)) continue;
      if (!port().hasHungUp(this.#id, index)) this.#outliving.add(index);
    }
  }

  /** The process is gone, if it ever was: nobody reads stdin. */
  closeInput(hasExited: boolean): void {
    this.#isInputClosed = true;
    this.#hasExited = hasExited;
    this.#hasHeard ||= hasExited;
    this.#sockets[0]?.destroy();
  }

  /** After the exit: output that nobody reads is discarded, so that it ends. */
  resume(): void {
    for (let index = 1; index < this.#sockets.length; index++) {
      const socket = this.#sockets[index];
      if (socket === undefined || this.#resumed[index]) continue;
      this.#resumed[index] = true;
      if (socket.readable && !isUsedAsStdio(socket)) socket.resume();
    }
  }

  /**
   * The same for what nobody has looked at, a moment later: `await once(child, 'exit')` may be about to look. libuv reads
   * once in a turn of the loop: where the channel's last words came with the exit, an output's last bytes did too, and
   * both ends come in the next turn. So does the end of what the exit itself has ended, and that of the channel with it.
   */
  flush(hadLastWords: boolean): void {
    this.resume();
    this.#isFlushed = true;
    if (this.#untouched === 0 && this.#sockets[0] !== undefined) return;
    const isEmpty = (_: number, index: number): boolean => port().isAtEnd(this.#id, index);
    const empty = hadLastWords ? this.#codes.map(isEmpty) : [];
    const open = port().drain(this.#id);
    let ended = 0;
    for (let index = 1; index < this.#codes.length; index++) {
      if (!this.#isPipe(index) || this.#isSettled(index)) continue;
      if (this.#codes[index] === PIPE && !open.includes(index)) {
        this.#untouched--;
        if (this.#outliving.has(index)) setImmediate(closeInTurn, native!.Pipe, this.#onClosed);
        else if (hadLastWords && !empty[index]) setImmediate(this.#onClosed);
        else ended++;
        continue;
      }
      this.#draining.add(index);
      hold();
    }
    for (; ended > 0; ended--) this.#onClosed();
  }

  /**
   * Ends the collecting with what has come. A child that is about to be signalled may say something at once, and the engine would
   * read that before {@link discard} closes the outputs; Node's loop does not look in between.
   */
  stopCollecting(): void {
    for (const index of this.#collected()) this.#stopped.set(index, this.#uncollect(index));
  }

  /** The signal has not been sent: what comes is wanted. */
  resumeCollecting(): void {
    for (const index of this.#stopped.keys()) this.get(index);
  }

  /**
   * Ends the collecting with what has come, and closes the outputs. The child is killed behind that, as Node does it: one that
   * still writes ends with SIGPIPE.
   */
  discard(kill?: () => void): void {
    const hasEnded = this.#hasLooked && (!this.#isInputClosed || this.#hasExited);
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
    // After the last look: a child that notices a closed output complains about it in the next one.
    for (const index of open) port().closeStream(this.#id, index);
    this.#sockets[1]?.destroy();
    this.#sockets[2]?.destroy();
    kill?.();
    // Last, since it may throw: there is more of it than fits into a string.
    for (const [index, bytes] of last) this.#collection?.onCollected(index, bytes);
  }

  /** Whatever is left in them can be read, and then they are at their end: those that libuv has. The engine does the others. */
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

  /** The outputs that are collected still. */
  #collected(): number[] {
    return [...this.#codes.keys()].filter(
      (index) =>
        this.#codes[index] === COLLECT &&
        !this.#isSettled(index) &&
        !(this.#isFlushed && !this.#draining.has(index)),
    );
  }

  #uncollect(index: number): Uncollected {
    const stopped = this.#stopped.get(index);
    this.#stopped.delete(index);
    return stopped ?? port().uncollect(this.#id, index, !this.#hasLooked);
  }

  /** Whether the loop has looked for output at least once: what is here before that, Node would not have read yet. */
  get #hasLooked(): boolean {
    return this.#hasHeard || (!this.#isStarting && port().looks() > this.#looksBefore);
  }

  #isPipe(index: number): boolean {
    return this.#codes[index] === PIPE || this.#codes[index] === COLLECT;
  }

  /** Whether it has a socket, or needs none. */
  #isSettled(index: number): boolean {
    return this.#sockets[index] !== undefined || this.#ended.has(index);
  }

  #makeInput(): Socket {
    if (this.#isInputClosed) {
      port().closeStream(this.#id, 0);
      return closedSocket();
    }
    const { fd } = port().take(this.#id, 0);
    if (fd < 0) return closedSocket();
    return new Socket({ handle: openPipe(native!.Pipe, fd), readable: false } as object);
  }

  #makeOutput(index: number): Socket {
    if (this.#ended.has(index)) return this.#makeEnded(index);
    if (this.#isFlushed && !this.#draining.has(index)) return closedSocket();
    if (this.#hasExited && port().isAtEnd(this.#id, index)) return this.#endUnseen(index);
    const stream = new OutputStream(this.#id, index);
    this.#sockets[index] = stream;
    this.#touch(index);
    stream.on('close', () => this.#owner.countOutput(!stream.readableEnded));
    if (this.#codes[index] !== COLLECT) {
      stream.start();
      // Another process holds it, and it has been flowing since the exit.
      return this.#isFlushed ? stream.resume() : stream;
    }
    this.#collection!.attach(index, stream);
    const { ended, bytes } = this.#uncollect(index);
    if (bytes.length > 0) stream.onData(bytes);
    // The collector has read that from Node's socket by now: a pause does not hold it back.
    if (this.#hasLooked) stream.read();
    // The engine is ahead of the loop: what came before the end is still on its way, until the loop has looked.
    if (ended) setImmediate(setImmediate, () => stream.isAdopted || stream.onEnded(0));
    else stream.start();
    return stream;
  }

  #endUntouched(index: number, hadBytes: boolean): void {
    if (this.#isSettled(index)) return;
    this.#ended.set(index, hadBytes);
    const hasOutlived = this.#draining.has(index);
    this.#touch(index);
    // libuv closes what has ended behind its look at the descriptors: what the channel says in this turn comes first.
    if (hasOutlived) closeInTurn(native!.Pipe, this.#onClosed);
    else this.#onClosed();
  }

  /**
   * A socket for an output that ended before anybody looked. A socket of Node's looks for its end after the bytes, which
   * is after the exit; what ends without a byte has ended before.
   */
  #makeEnded(index: number): Socket {
    if (this.#isFlushed || !this.#ended.get(index)) return closedSocket();
    const stream = new OutputStream(this.#id, index);
    stream.onEnded(0);
    return stream;
  }

  /** The same for one whose end the engine has not seen either. */
  #endUnseen(index: number): Socket {
    port().closeStream(this.#id, index);
    const socket = closedSocket();
    this.#sockets[index] = socket;
    this.#touch(index);
    return socket.on('close', this.#onClosed);
  }

  /** It is no longer one that nobody has looked at. */
  #touch(index: number): void {
    this.#untouched--;
    if (this.#draining.delete(index)) release();
  }
}

function isUsedAsStdio(socket: Socket): boolean {
  // Code that uses it as stdio has adopted it.
  if (socket instanceof OutputStream && !socket.isAdopted) return false;
  return Object.getOwnPropertySymbols(socket).some(
    ({ description }) => description === 'kIsUsedAsStdio',
  );
}
