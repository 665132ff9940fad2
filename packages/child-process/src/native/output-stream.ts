import { Socket } from 'node:net';
import { native } from './engine.ts';
import { systemError } from '../errors.ts';
import { markAsRead } from './late-socket.ts';
import { closeInTurn, openPipe, type Pipe } from './pipe.ts';
import { port, refLoop, unrefLoop } from './port.ts';
import { setImmediate } from '../node/timers.ts';

/** Bytes that the engine reads per request, and the remainder at which to request more. */
const CREDIT = 256 * 1024;
const LOW = CREDIT / 2;

type Reinitialize = (this: Socket, handle: Pipe) => void;
const reinitialize = Object.getOwnPropertySymbols(Socket.prototype).find(
  ({ description }) => description === 'kReinitializeHandle',
);

/**
 * The near end of a child's output: a `net.Socket` that the engine reads. It changes to a Node handle when user code needs
 * one: to write to it, pass it to another child, or unref it.
 */
export class OutputStream extends Socket {
  readonly #id: number;
  readonly #index: number;
  #credit = 0;
  #received: number;
  #isReading = false;
  /** True once the engine was asked to read. */
  #isStarted = false;
  #hasEnded = false;
  #isAdopted = false;
  /** True if data read by the engine before the Node handle has not been emitted yet. */
  #isBehind = false;

  /** @param discarded number of bytes that were discarded before the first access */
  constructor(id: number, index: number, discarded = 0) {
    super();
    this.#id = id;
    this.#index = index;
    this.#received = discarded;
    if (discarded > 0) markAsRead(this);
  }

  /** Starts reading, as a socket over a handle does on creation: the next steps of a stream depend on whether it reads. */
  start(): this {
    this.read(0);
    return this;
  }

  /** True while the engine reads it. */
  get isReading(): boolean {
    return this.#isReading;
  }

  get isAdopted(): boolean {
    return this.#isAdopted;
  }

  onData(bytes: Buffer): void {
    this.#credit -= bytes.length;
    if (this.destroyed) return;
    this.#received += bytes.length;
    (this as unknown as { _unrefTimer(): void })._unrefTimer();
    if (!this.push(bytes)) this.#stopReading();
  }

  onEnded(errno: number): void {
    this.#hasEnded = true;
    this.#stopReading();
    if (this.destroyed) return;
    if (errno !== 0) {
      this.destroy(systemError(-errno, 'read'));
      return;
    }
    this.push(null);
    this.read(0);
  }

  /** The end of an output whose last bytes were discarded, because they came before the first access. */
  onDrained(bytes: number): void {
    this.#received += bytes;
    this.onEnded(0);
  }

  /** Moves the descriptor into a Node handle. */
  adopt(): void {
    if (this.#isAdopted || this.#hasEnded || this.destroyed) return;
    this.#isAdopted = true;
    const isReading = this.#isReading;
    const { fd, bytes } = port().take(this.#id, this.#index);
    this.#stopReading();
    if (fd < 0) {
      this.#hasEnded = true;
      this.#catchUp(bytes);
      return;
    }
    const { [reinitialize!]: initialize } = Socket.prototype as unknown as Record<
      symbol,
      Reinitialize
    >;
    initialize!.call(this, openPipe(native!.Pipe, fd));
    // A read in progress is not requested again.
    if (bytes.length > 0) this.#catchUp(bytes);
    else if (isReading) super._read(0);
    else this.read(0);
  }

  /**
   * Emits the data that the engine has read, in the next turn: a Node handle would not have read it in this turn of the
   * loop.
   */
  #catchUp(bytes: Buffer): void {
    this.#isBehind = true;
    setImmediate(() => {
      this.#isBehind = false;
      if (this.destroyed) return;
      this.#received += bytes.length;
      if (bytes.length > 0) this.push(bytes);
      if (this.#hasEnded) this.onEnded(0);
      else this.read(0);
    });
  }

  /** Read by `stdio: [stream]` to find a handle. */
  get handle(): unknown {
    this.adopt();
    return (this as unknown as { _handle: unknown })._handle;
  }

  /** Returns `bytesRead`; `adopted` is the part read by a Node handle. */
  countBytes(adopted: number): number {
    return this.#isAdopted ? this.#received + adopted : this.#received;
  }

  /** Does nothing: a socket that gets a handle resets its ended state, and this one is adopted because it is being ended. */
  _undestroy(): void {}

  override ref(): this {
    return this.#isAdopted ? super.ref() : this;
  }

  override unref(): this {
    this.adopt();
    return this.#isAdopted && !this.#hasEnded ? super.unref() : this;
  }

  override _read(size: number): void {
    if (this.#isBehind) return;
    if (this.#isAdopted) {
      super._read(size);
      return;
    }
    if (this.#hasEnded) return;
    if (!this.#isReading) {
      this.#isReading = true;
      refLoop();
    }
    if (this.#isStarted) this.#ask();
    else process.nextTick(startReading, this);
  }

  /**
   * Starts the engine's reads. Deferred to the next tick, so that a child that gets this stream as its stdio gets all of it.
   */
  startReading(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    if (this.#isReading) this.#ask();
  }

  #ask(): void {
    if (this.#credit > LOW) return;
    this.#credit = CREDIT;
    port().flow(this.#id, this.#index);
  }

  override _write(
    chunk: unknown,
    encoding: BufferEncoding,
    done: (error?: Error | null) => void,
  ): void {
    this.adopt();
    super._write(chunk, encoding, done);
  }

  override _writev(
    chunks: { chunk: unknown; encoding: BufferEncoding }[],
    done: (error?: Error | null) => void,
  ): void {
    this.adopt();
    super._writev!(chunks, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    if (!this.#hasEnded) this.adopt();
    super._final(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if ((this as unknown as { _handle: unknown })._handle) {
      super._destroy(error, done);
      return;
    }
    if (!this.#hasEnded) port().closeStream(this.#id, this.#index);
    this.#stopReading();
    if (this.timeout) this.setTimeout(0);
    done(error);
    // Emitted here, because a socket without a handle does not report errors at this point.
    closeInTurn(native!.Pipe, () => this.emit('close', error !== null));
  }

  #stopReading(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    unrefLoop();
  }
}

Object.defineProperty(OutputStream, 'name', { value: 'Socket' });

const bytesRead = Object.getOwnPropertyDescriptor(Socket.prototype, 'bytesRead')?.get;
Object.defineProperty(OutputStream.prototype, 'bytesRead', {
  configurable: true,
  get(this: OutputStream) {
    return this.countBytes(bytesRead?.call(this) ?? 0);
  },
});

const bufferSize = Object.getOwnPropertyDescriptor(Socket.prototype, 'bufferSize')!.get!;
Object.defineProperty(OutputStream.prototype, 'bufferSize', {
  configurable: true,
  get(this: OutputStream) {
    return this.isAdopted || this.destroyed ? bufferSize.call(this) : this.writableLength;
  },
});

// Node considers a socket without a handle to be connecting or destroyed.
const pending = Object.getOwnPropertyDescriptor(Socket.prototype, 'pending')!.get!;
Object.defineProperty(OutputStream.prototype, 'pending', {
  configurable: true,
  get(this: OutputStream) {
    return this.isAdopted ? (pending.call(this) as boolean) : this.destroyed;
  },
});

function startReading(stream: OutputStream): void {
  stream.startReading();
}

/** Returns true if code of this process uses the socket as its own stdio. */
export function isUsedAsStdio(socket: Socket): boolean {
  // Code that uses it as stdio has adopted it.
  if (socket instanceof OutputStream && !socket.isAdopted) return false;
  return Object.getOwnPropertySymbols(socket).some(
    ({ description }) => description === 'kIsUsedAsStdio',
  );
}
