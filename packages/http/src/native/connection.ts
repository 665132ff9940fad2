import type {
  FileRange,
  Port as AddonPort,
  ProxyHeader as AddonProxyHeader,
} from '../../native.cjs';
import type { Outbox } from './outbox.ts';
import type { HeaderBlock } from './header-block.ts';
import type { ClientError, SocketAddress } from './types.ts';
import { WRITE_FLAGS } from './wire.ts';

const { CHUNK, CLOSE, END, RAW, TRAILERS } = WRITE_FLAGS;

/** What all connections of an environment use. */
export interface Engine {
  readonly addon: AddonPort;
  readonly outbox: Outbox;
  readonly pending: Uint32Array;
}

/** What a server hears from the engine. Each is called in a try of its own; what it throws is an uncaught exception. */
export interface ServerEvents {
  /** A connection came. Only with `announceConnections`. */
  onOpen(connection: Connection): void;
  /** `body` is a copy: all of it with BODY_COMPLETE, otherwise its first bytes or undefined. */
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
  /** Everything written is with the kernel, after `pending` was above 0. */
  onDrain(connection: Connection): void;
  /** What the connection brings from here on is not understood: each further piece is an error again. */
  onClientError(connection: Connection, error: ClientError): void;
  /** A part of a file has left, or goes no further: `endFile` says how far it came. */
  onFile(connection: Connection): void;
  /** Not closed yet. `isInactive`: by the connection's own timeout, not between two requests. */
  onTimeout(connection: Connection, isInactive: boolean): void;
  /** The client ended its side while answers are due. Only with `allowHalfOpen` or after `announceEnd`; otherwise the connection closes. */
  onEnd?(connection: Connection): void;
  /** The last event of a connection. `errno` is 0 or what recv or send reported. */
  onClose(connection: Connection, errno: number): void;
  /** `maxConnections` was reached: a connection was dropped. */
  onDrop(remote: SocketAddress, local: SocketAddress): void;
  /** Lines of the server's own answers wait; due ones are to be taken at once. */
  onLines(areDue: boolean): void;
  /** After `stop()`: the last connection is gone. */
  onStopped(): void;
  /** The process ends. */
  onExit(): void;
}

/** A connection of the engine. Calls on one that is gone do nothing. */
export class Connection {
  readonly server: ServerEvents;
  readonly slot: number;
  readonly generation: number;
  /** For the layer above. */
  owner: unknown = undefined;
  /** `onClose` was called, or the descriptor was given away. */
  closed = false;
  /** `destroy` was called: only `onClose` follows. */
  destroyed = false;
  /** A request had trailers: from then on Node's parser runs ticks before each request. */
  hadTrailers = false;
  /** The body of its request came whole, and it has not heard so. */
  endsBody = false;
  readonly #engine: Engine;
  #addresses: { remote: SocketAddress | undefined; local: SocketAddress | undefined } | undefined;
  /** Bytes that were not sent when it was destroyed. */
  #lost = 0;

  constructor(engine: Engine, server: ServerEvents, slot: number, generation: number) {
    this.#engine = engine;
    this.server = server;
    this.slot = slot;
    this.generation = generation;
  }

  /** Bytes the kernel had not taken when they were last sent; of a connection that was destroyed, those it never took. */
  get pending(): number {
    return this.destroyed || this.closed ? this.#lost : this.#engine.pending[this.slot]!;
  }

  /** Bytes the kernel has not taken, of all that was written so far. */
  get unsent(): number {
    if (!this.destroyed && !this.closed) this.#engine.addon.flush();
    return this.pending;
  }

  /**
   * A whole response: `head` ends in an empty line and has the length of the body. `flags` has END, and CLOSE where the
   * connection is not kept.
   */
  answer(
    sequence: number,
    head: string,
    body: string | Uint8Array | undefined,
    flags: number,
  ): void {
    this.#engine.outbox.answer(this.slot, this.generation, sequence, flags | END, head, body ?? '');
  }

  /** A part of a response, as `flags` describes it. */
  write(
    sequence: number,
    data: string | Uint8Array,
    encoding: BufferEncoding | undefined,
    flags: number,
  ): void {
    this.#engine.outbox.write(this.slot, this.generation, sequence, flags, data, encoding);
  }

  /** The end of a chunked response, with trailer lines (`name: value`, each ended by CRLF). */
  endChunked(sequence: number, trailers: string, flags: number): void {
    const all = flags | (trailers === '' ? CHUNK | END : TRAILERS | END);
    this.write(sequence, trailers, 'latin1', all);
  }

  /**
   * A part of a file, behind everything that was written.
   * @returns how many of its bytes have left when it is over at once, and undefined while it is under way
   */
  sendFile(sequence: number, range: FileRange): number | undefined {
    return this.#engine.addon.sendFile(this.slot, this.generation, sequence, range) ?? undefined;
  }

  /** Ends the part of a file that is under way, if any, and says how many bytes of the last one have left. */
  endFile(): number {
    return this.#engine.addon.endFile(this.slot, this.generation);
  }

  /** Bytes outside the order of responses, behind everything that was written. */
  writeRaw(data: string | Uint8Array): void {
    this.write(0, data, 'utf8', RAW);
  }

  /** Closes once everything written is sent. */
  closeSoon(): void {
    this.write(0, '', 'latin1', RAW | CLOSE);
  }

  /** Offers what was written to the kernel and closes. */
  destroy(): void {
    this.#close(false);
  }

  /** As `destroy`, with a reset. */
  reset(): void {
    this.#close(true);
  }

  #close(isReset: boolean): void {
    if (this.destroyed || this.closed) return;
    this.#lost = this.#engine.addon.close(this.slot, this.generation, isReset);
    this.destroyed = true;
  }

  /** Nothing more is read. A piece of the body that was read already may still come, and so may requests. */
  pause(): void {
    this.#engine.addon.pause(this.slot, this.generation);
  }

  resume(): void {
    this.#engine.addon.resume(this.slot, this.generation);
  }

  /** Whether it keeps the loop alive while it is read. Bytes that are to be sent do in any case. */
  setReferenced(isReferenced: boolean): void {
    this.#engine.addon.setReferenced(this.slot, this.generation, isReferenced);
  }

  /** Reads the rest of the request's body, or of what is refused, and drops it; no events are emitted for it. */
  discardBody(): void {
    this.#engine.addon.discardBody(this.slot, this.generation);
  }

  /** `onEnd` comes without `allowHalfOpen` too: what is held here leaves then. */
  announceEnd(): void {
    this.#engine.addon.announceEnd(this.slot, this.generation);
  }

  /** Makes an uncaught exception of `error` at once, and goes on: others wait in the same tick. */
  report(error: unknown): void {
    this.#engine.addon.report(error);
  }

  /** Gives the descriptor away, with what was read behind the head. Undefined when the connection is gone. */
  detach(): { fd: number; head: Buffer } | undefined {
    const detached = this.#engine.addon.detach(this.slot, this.generation) ?? undefined;
    if (detached !== undefined) this.closed = true;
    return detached;
  }

  /** Calls `onTimeout` after so many ms without activity; 0 is off. */
  setTimeout(timeoutMs: number): void {
    this.#engine.addon.setTimeout(this.slot, this.generation, timeoutMs);
  }

  setNoDelay(isOn: boolean): void {
    this.#engine.addon.setNoDelay(this.slot, this.generation, isOn);
  }

  setKeepAlive(isOn: boolean, initialDelaySeconds: number): void {
    this.#engine.addon.setKeepAlive(this.slot, this.generation, isOn, initialDelaySeconds);
  }

  /** Undefined for a Unix socket, as with Node, or when the connection is gone. */
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

  /** Its addresses are known from here on, when it is gone, too. */
  keepAddresses(): void {
    this.#addresses ??= { remote: this.remote(), local: this.local() };
  }

  /** What its proxy has said. */
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
