import type {
  FileRange,
  Port as AddonPort,
  ProxyHeader as AddonProxyHeader,
} from '../../native.cjs';
import type { Outbox } from './outbox.ts';
import type { HeaderBlock } from './inbox.ts';
import type { ClientError, SocketAddress } from './types.ts';
import { WRITE_FLAGS } from './wire.ts';

const { CHUNK, CLOSE, END, RAW, TRAILERS } = WRITE_FLAGS;

/** Shared by all connections of an environment. */
export interface Engine {
  readonly addon: AddonPort;
  readonly outbox: Outbox;
  readonly pending: Uint32Array;
  /** 1 if it has a thread of its own, otherwise 0. */
  readonly number: number;
}

/** Events of a server. Each is called in its own try; anything it throws becomes an uncaught exception. */
export interface ServerEvents {
  /** A connection was accepted. Only with `announceConnections`. */
  onOpen(connection: Connection): void;
  /** `body` is a copy: the complete body with BODY_COMPLETE, otherwise its first bytes or undefined. */
  onRequest(
    connection: Connection,
    sequence: number,
    method: string,
    url: string,
    flags: number,
    headers: HeaderBlock,
    body: Buffer | undefined,
  ): void;
  onBody(connection: Connection, sequence: number, chunk: Buffer): void;
  /** `trailers` is flat: name, value, name, value. */
  onBodyEnd(connection: Connection, sequence: number, trailers: string[]): void;
  /** The kernel has taken everything written, after `pending` was above 0. */
  onDrain(connection: Connection): void;
  /** The connection can no longer be parsed: each further piece is another error. */
  onClientError(connection: Connection, error: ClientError): void;
  /** A part of a file has been sent, or has stopped: `endFile` returns how many bytes were sent. */
  onFile(connection: Connection): void;
  /** Not closed yet. `isInactive`: by the connection's own timeout, not between two requests. */
  onTimeout(connection: Connection, isInactive: boolean): void;
  /**
   * The client ended its side while responses are pending. Only with `allowHalfOpen` or after `announceEnd`; otherwise the
   * connection closes.
   */
  onEnd?(connection: Connection): void;
  /** The last event of a connection. `errno` is 0 or the error of recv or send. */
  onClose(connection: Connection, errno: number): void;
  /** `maxConnections` was reached: a connection was dropped. */
  onDrop(remote: SocketAddress, local: SocketAddress): void;
  /** Lines of the server's stored responses are queued; due ones must be taken immediately. */
  onLines(areDue: boolean): void;
  /** After `stop()`: the last connection is gone. */
  onStopped(): void;
  /** The process ends. */
  onExit(): void;
}

/** A connection of the engine. Calls on a closed one do nothing. */
export class Connection {
  readonly server: ServerEvents;
  readonly slot: number;
  readonly generation: number;
  /** Set by the layer above. */
  owner: unknown = undefined;
  /** `onClose` was called, or the descriptor was given away. */
  closed = false;
  /** `destroy` was called: only `onClose` follows. */
  destroyed = false;
  /** A request had trailers: after that, Node's parser runs ticks before each request. */
  hadTrailers = false;
  /** The body came whole with its request, and its end has not been emitted. */
  endsBody = false;
  readonly #engine: Engine;
  #addresses: { remote: SocketAddress | undefined; local: SocketAddress | undefined } | undefined;
  /** Bytes unsent when it was destroyed. */
  #lost = 0;

  constructor(engine: Engine, server: ServerEvents, slot: number, generation: number) {
    this.#engine = engine;
    this.server = server;
    this.slot = slot;
    this.generation = generation;
  }

  /** The number of its engine. */
  get engine(): number {
    return this.#engine.number;
  }

  /** Bytes the kernel had not taken at the last flush; after destruction, the bytes it never took. */
  get pending(): number {
    return this.destroyed || this.closed ? this.#lost : this.#engine.pending[this.slot]!;
  }

  /** Bytes the kernel has not taken, of everything written so far. */
  get unsent(): number {
    if (!this.destroyed && !this.closed) this.#engine.addon.flush();
    return this.pending;
  }

  /**
   * Writes a whole response: `head` ends with an empty line and declares the length of the body. `flags` has END, and CLOSE
   * if the connection is not kept; `facts` are those of an observed response.
   */
  answer(
    sequence: number,
    head: string,
    body: string | Uint8Array | undefined,
    flags: number,
    facts = 0,
  ): void {
    const { outbox } = this.#engine;
    outbox.answer(this.slot, this.generation, sequence, flags | END, facts, head, body ?? '');
  }

  /** Writes a part of a response, as `flags` describes it; the last part of an observed one has its facts. */
  write(
    sequence: number,
    data: string | Uint8Array,
    encoding: BufferEncoding | undefined,
    flags: number,
    facts = 0,
  ): void {
    this.#engine.outbox.write(this.slot, this.generation, sequence, flags, facts, data, encoding);
  }

  /** Ends a chunked response, with trailer lines (`name: value`, each terminated by CRLF). */
  endChunked(sequence: number, trailers: string, flags: number): void {
    const all = flags | (trailers === '' ? CHUNK | END : TRAILERS | END);
    this.write(sequence, trailers, 'latin1', all);
  }

  /**
   * Sends a part of a file after everything written so far.
   * @returns the number of bytes sent if it finished at once, undefined while it is in progress
   */
  sendFile(sequence: number, range: FileRange): number | undefined {
    return this.#engine.addon.sendFile(this.slot, this.generation, sequence, range) ?? undefined;
  }

  /** Ends the part of a file in progress, if any, and returns how many bytes of the last one were sent. */
  endFile(): number {
    return this.#engine.addon.endFile(this.slot, this.generation);
  }

  /** Writes bytes outside the order of responses, after everything written so far. */
  writeRaw(data: string | Uint8Array): void {
    this.write(0, data, 'utf8', RAW);
  }

  /** Closes once everything written is sent. */
  closeSoon(): void {
    this.write(0, '', 'latin1', RAW | CLOSE);
  }

  /** Offers the written bytes to the kernel and closes. */
  destroy(): void {
    this.#close(false);
  }

  /** Like `destroy`, with a reset. */
  reset(): void {
    this.#close(true);
  }

  #close(isReset: boolean): void {
    if (this.destroyed || this.closed) return;
    this.#lost = this.#engine.addon.close(this.slot, this.generation, isReset);
    this.destroyed = true;
  }

  /** Stops reading. A piece of the body that was read already may still arrive, and so may requests. */
  pause(): void {
    this.#engine.addon.pause(this.slot, this.generation);
  }

  resume(): void {
    this.#engine.addon.resume(this.slot, this.generation);
  }

  /** Sets if reading keeps the loop alive. Unsent bytes always do. */
  setReferenced(isReferenced: boolean): void {
    this.#engine.addon.setReferenced(this.slot, this.generation, isReferenced);
  }

  /** Reads and drops the rest of the request's body, or of a refused request; no events are emitted for it. */
  discardBody(): void {
    this.#engine.addon.discardBody(this.slot, this.generation);
  }

  /** Has `onEnd` called without `allowHalfOpen` too: bytes held in JavaScript are sent then. */
  announceEnd(): void {
    this.#engine.addon.announceEnd(this.slot, this.generation);
  }

  /** Raises `error` as an uncaught exception at once and continues: other connections wait in the same tick. */
  report(error: unknown): void {
    this.#engine.addon.report(error);
  }

  /** Gives away the descriptor, with the bytes read after the head. Undefined if the connection is gone. */
  detach(): { fd: number; head: Buffer } | undefined {
    const detached = this.#engine.addon.detach(this.slot, this.generation) ?? undefined;
    if (detached !== undefined) this.closed = true;
    return detached;
  }

  /** Calls `onTimeout` after this many ms without activity; 0 is off. */
  setTimeout(timeoutMs: number): void {
    this.#engine.addon.setTimeout(this.slot, this.generation, timeoutMs);
  }

  setNoDelay(isOn: boolean): void {
    this.#engine.addon.setNoDelay(this.slot, this.generation, isOn);
  }

  setKeepAlive(isOn: boolean, initialDelaySeconds: number): void {
    this.#engine.addon.setKeepAlive(this.slot, this.generation, isOn, initialDelaySeconds);
  }

  /** Undefined for a Unix socket, as in Node, and if the connection is gone. */
  remote(): SocketAddress | undefined {
    return this.#addresses === undefined
      ? ofNetwork(this.#engine.addon.remote(this.slot, this.generation))
      : this.#addresses.remote;
  }

  local(): SocketAddress | undefined {
    return this.#addresses === undefined
      ? ofNetwork(this.#engine.addon.local(this.slot, this.generation))
      : this.#addresses.local;
  }

  /** Caches the addresses, so that they are available after the connection is gone. */
  keepAddresses(): void {
    this.#addresses ??= { remote: this.remote(), local: this.local() };
  }

  proxyHeader(): AddonProxyHeader | undefined {
    return this.#engine.addon.proxyHeader(this.slot, this.generation) ?? undefined;
  }

  get bytesRead(): number {
    return this.#engine.addon.bytesRead(this.slot, this.generation);
  }

  get bytesWritten(): number {
    return this.#engine.addon.bytesWritten(this.slot, this.generation);
  }
}

function ofNetwork(address: SocketAddress | null): SocketAddress | undefined {
  return address === null || address.family === '' ? undefined : address;
}
