import type { SocketAddress } from './native/index.ts';
import type { EngineConnection } from './exchange.ts';

/** What net.Socket calls on a libuv handle, answered by the engine's connection. */
export class ConnectionHandle {
  readonly #connection: EngineConnection;
  /** net.Socket's own mark. The engine reads for itself. */
  reading = true;
  onread: unknown;
  #afterClose: (() => void) | undefined;

  constructor(connection: EngineConnection) {
    this.#connection = connection;
  }

  getAsyncId(): number {
    return this.#connection.asyncId();
  }

  get bytesRead(): number {
    return this.#connection.native.bytesRead;
  }

  get bytesWritten(): number {
    return this.#connection.native.bytesWritten;
  }

  get writeQueueSize(): number {
    return this.#connection.native.pending;
  }

  readStart(): number {
    this.#connection.readMore();
    return 0;
  }

  readStop(): number {
    this.#connection.readLess();
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

  // The engine's connections hold the loop together, through the server.
  ref(): void {}
  unref(): void {}
  hasRef(): boolean {
    return true;
  }

  close(afterClose: () => void): void {
    this.#afterClose = afterClose;
    this.#connection.native.destroy();
    // It may be gone already: then no event of the engine follows.
    if (this.#connection.native.closed) setImmediate(() => this.closed());
  }

  reset(afterClose: () => void): number {
    this.#afterClose = afterClose;
    this.#connection.native.reset();
    if (this.#connection.native.closed) setImmediate(() => this.closed());
    return 0;
  }

  /** The engine has closed the descriptor. */
  closed(): void {
    const afterClose = this.#afterClose;
    this.#afterClose = undefined;
    afterClose?.();
  }
}

/** Of a Unix socket Node knows none. */
function copyAddress(address: SocketAddress | undefined, into: object): void {
  if (address !== undefined && address.family !== '') Object.assign(into, address);
}
