import type { SocketAddress } from '../native/index.ts';
import { setImmediate } from '../node/clocks.ts';
import { HttpError } from '../errors.ts';
import type { EngineConnection, StreamHandle } from '../exchange.ts';

const SOCKET = 0;

/** Creates a libuv handle that is an instance of the subclass. */
// eslint-disable-next-line typescript/no-extraneous-class -- its constructor chooses what `this` is
class NativeHandle {
  constructor(Native: StreamHandle) {
    // eslint-disable-next-line no-constructor-return -- the object must be one that Node's natives know
    return Reflect.construct(Native, [SOCKET], new.target) as this;
  }
}

/**
 * Implements the handle methods that net.Socket calls, on the engine's connection. It is a real libuv handle, without a
 * descriptor: `child.send` passes it to Node's native code, which reads its fields and crashes on any other object.
 */
export class ConnectionHandle extends NativeHandle {
  readonly #connection: EngineConnection;
  readonly #Native: StreamHandle;
  /** Flag maintained by net.Socket. The engine controls reading itself. */
  reading = true;
  #onread: unknown;
  #isTaken = false;
  #isClosing = false;
  #isReferenced = true;
  #afterClose: (() => void) | undefined;

  constructor(connection: EngineConnection) {
    const { StreamHandle: Native } = connection.server;
    super(Native);
    this.#connection = connection;
    this.#Native = Native;
  }

  get onread(): unknown {
    return this.#onread;
  }
  // net.Socket sets it on creation and on destruction; any other write takes over the handle, as `child.send` does.
  set onread(onread: unknown) {
    if (this.#onread !== undefined && !this.#isClosing) this.#take();
    this.#onread = onread;
  }

  get isStreamBase(): boolean {
    throw new HttpError(
      'ERR_REDLINE_HTTP_SOCKET',
      'The bytes of this connection belong to the engine: TLS and HTTP/2 take the socket of "upgrade" or "connect", or a ' +
        'server made by node:http',
    );
  }

  getAsyncId(): number {
    return this.#connection.asyncId();
  }

  get bytesRead(): number {
    return this.#connection.native.bytesRead;
  }

  /** Like libuv, counts bytes given to the handle, sent or not. */
  get bytesWritten(): number {
    const { native } = this.#connection;
    const unsent = this.#connection.unsent();
    return native.bytesWritten + unsent;
  }

  get writeQueueSize(): number {
    return this.#connection.unsent();
  }

  readStart(): number {
    this.#connection.resumeEngineReads();
    return 0;
  }

  readStop(): number {
    this.#connection.pauseEngineReads();
    return 0;
  }

  getpeername(into: object): number {
    copyAddress(this.#connection.native.remote(), into);
    return 0;
  }

  getsockname(into: object): number {
    copyAddress(this.#connection.native.local(), into);
    return 0;
  }

  setNoDelay(isOn: boolean): number {
    this.#connection.native.setNoDelay(isOn);
    return 0;
  }

  setKeepAlive(isOn: boolean, initialDelaySeconds: number): number {
    this.#connection.native.setKeepAlive(isOn, initialDelaySeconds);
    return 0;
  }

  ref(): void {
    this.#setReferenced(true);
  }

  unref(): void {
    this.#setReferenced(false);
  }

  hasRef(): boolean {
    return this.#isReferenced && !this.#isClosing;
  }

  #setReferenced(isReferenced: boolean): void {
    this.#isReferenced = isReferenced;
    if (!this.#isTaken) this.#connection.native.setReferenced(isReferenced);
    else if (isReferenced) this.#Native.prototype.ref.call(this);
    else this.#Native.prototype.unref.call(this);
  }

  close(afterClose?: () => void): void {
    this.release();
    this.#afterClose = afterClose;
    this.#connection.native.destroy();
    // If it is already closed, the engine emits no further event.
    if (this.#connection.native.closed) setImmediate(() => this.closed());
  }

  reset(afterClose: () => void): number {
    this.release();
    this.#afterClose = afterClose;
    this.#connection.native.reset();
    if (this.#connection.native.closed) setImmediate(() => this.closed());
    return 0;
  }

  /** Has libuv close its handle. */
  release(): void {
    this.#isClosing = true;
    this.#Native.prototype.close.call(this);
  }

  /** Moves the descriptor into this handle and detaches the connection from the engine. */
  #take(): void {
    if (this.#isTaken) return;
    this.#isTaken = true;
    const detached = this.#connection.leave();
    if (detached === undefined) return;
    this.#Native.prototype.open.call(this, detached.fd);
    if (!this.#isReferenced) this.#Native.prototype.unref.call(this);
  }

  /** Called when the engine has closed the descriptor. */
  closed(): void {
    const afterClose = this.#afterClose;
    this.#afterClose = undefined;
    afterClose?.();
  }
}

/** Node reports no address for Unix sockets. */
function copyAddress(address: SocketAddress | undefined, into: object): void {
  if (address !== undefined && address.family !== '') Object.assign(into, address);
}
