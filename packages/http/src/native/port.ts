import { performance } from 'node:perf_hooks';
import { loadAddon, type Addon, type Port as AddonPort } from '../../native.cjs';
import { addObservedEngine } from '../exchange-observer.ts';
import { LineLog } from './line-log.ts';
import { Connection, type Engine, type ServerEvents } from './connection.ts';
import { Inbox } from './inbox.ts';
import { allocate, type SharedMemory } from './memory.ts';
import { Outbox } from './outbox.ts';
import { References, NativeServer } from './server.ts';
import { readTables, type Tables } from './tables.ts';
import type { ListenOptions, ServerSettings, SocketAddress } from './types.ts';
import {
  BODY,
  BODY_END,
  CLOSE,
  DROP,
  ERROR,
  HEADER,
  KIND,
  LINES,
  PAIR,
  RECORD,
  REQUEST,
  REQUEST_FLAGS,
  TIMEOUT,
} from './wire.ts';

// Fields read of every record, destructured because V8 folds constants of the same module, and loads another module's each
// time.
const { KIND_AND_LENGTH, SLOT, GENERATION, SERVER } = RECORD;
const { SEQUENCE, METHOD_AND_FLAGS, BODY_OFFSET, BODY_LENGTH } = REQUEST;
const { TRAILER_COUNT } = BODY_END;
const { FIRST_MASK, SECOND_SHIFT } = PAIR;
const { REQUEST: A_REQUEST, BODY: A_BODY, BODY_END: A_BODY_END, ERROR: AN_ERROR } = KIND;

// Bound early, because tests replace the clocks of a process.
const now = performance.now.bind(performance);

const DEFAULT_BACKLOG = 511;

/** After this time, finished responses are sent, and ticks and promises run, before further records are read. */
const PART_MS = 1;

/** In a record, the request's flags are above its method. */
const WHOLE = REQUEST_FLAGS.BODY_COMPLETE << SECOND_SHIFT;

let inLoop: Port | undefined;
let threaded: Port | undefined;

/**
 * Returns the engine of this environment, made on the first call: the one in the loop, or the one with a thread.
 *
 * @throws If no addon loads, or a system call of the start fails ({@link startErrno}); the message is one clause with the
 *   reason.
 */
export function openPort(isThreaded = false): Port {
  if (isThreaded) return (threaded ??= new Port(loadAddon(), true));
  return (inLoop ??= new Port(loadAddon(), false));
}

/** Returns the errno that kept an engine from starting; `undefined` for any other error. */
export function startErrno(error: unknown): number | undefined {
  const number = /^errno (\d+)$/.exec((error as Error).message)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** The servers and connections of one engine, and the reader of its batches. */
export class Port {
  readonly #addon: AddonPort;
  readonly #engine: Engine;
  readonly #memory: SharedMemory;
  readonly #inbox: Inbox;
  readonly #tables: Tables;
  readonly #references: References;
  readonly #servers: (NativeServer | undefined)[] = [];
  readonly #connections: (Connection | undefined)[] = [];
  /** Index of the record after the current one. */
  #next = 0;
  /** Index where reading continues after bodies are ended, otherwise 0. */
  #resumeAt = 0;
  /** Bodies that came whole with their requests: connection, sequence. */
  readonly #whole: (Connection | number)[] = [];

  constructor({ Port: AddonPort, tables }: Addon, isThreaded: boolean) {
    const memory = allocate();
    this.#memory = memory;
    this.#tables = readTables(tables());
    this.#inbox = new Inbox(memory, this.#tables);
    this.#addon = new AddonPort(memory, isThreaded, (from, words) => this.#read(from, words));
    this.#references = new References(this.#addon);
    const outbox = new Outbox(this.#addon, memory);
    const number = isThreaded ? 1 : 0;
    this.#engine = { addon: this.#addon, outbox, pending: memory.pending, number };
    addObservedEngine({ number, observe: (ring) => this.#addon.observe(ring) });
    // Sends the responses made in the turn of the loop that ends the process.
    process.on('exit', () => {
      this.#addon.flush();
      for (const server of this.#servers) server?.events.onExit();
    });
  }

  /** Listens; `proxies` applies to its connections only. Returns a negative errno on failure. */
  listen(
    options: ListenOptions,
    settings: ServerSettings,
    events: ServerEvents,
    proxies?: readonly string[],
  ): NativeServer | number {
    // Values other than numbers are coerced as the kernel would.
    const backlog = Math.trunc(Number(options.backlog ?? DEFAULT_BACKLOG)) || 0;
    const number = this.#addon.listen({ ...options, backlog }, settings, proxies as string[]);
    return this.#serverOf(number, settings, events);
  }

  /** Creates a server that gets its connections through `adopt`. Returns a negative errno on failure. */
  serve(
    settings: ServerSettings,
    events: ServerEvents,
    proxies?: readonly string[],
  ): NativeServer | number {
    return this.#serverOf(this.#addon.serve(settings, proxies as string[]), settings, events);
  }

  #serverOf(number: number, settings: ServerSettings, events: ServerEvents): NativeServer | number {
    if (number < 0) return number;
    const log = new LineLog(this.#addon, this.#memory.commands, number);
    const port = { addon: this.#addon, references: this.#references };
    const server = new NativeServer(port, number, settings, { events, log });
    this.#servers[number] = server;
    return server;
  }

  /** Returns the time of the last drop of stored responses, of all servers and threads of the process. */
  ticket(): number {
    return this.#addon.ticket();
  }

  /** Sends written bytes. The loop flushes by itself before it sleeps. */
  flush(): void {
    this.#addon.flush();
  }

  /**
   * Reads records and returns the index reached: the rest comes in another call. Without words it only returns the index, which was
   * lost with the exception of a tick.
   */
  #read(from: number, words: number): number {
    if (words === 0) return this.#next;
    this.#next = this.#resumeAt || from;
    this.#resumeAt = 0;
    const until = now() + PART_MS;
    for (;;) {
      try {
        this.#readOn(words, until);
        return this.#next;
      } catch (error) {
        this.#addon.report(error);
      }
    }
  }

  #readOn(words: number, until: number): void {
    const { records } = this.#memory;
    let isAnyGood = this.#whole.length > 0;
    let lastSlot = -1;
    let bodySlot = -1;
    let at = this.#next;
    if (this.#endBodies() && this.#next < words) return;
    while (this.#next < words) {
      at = this.#next;
      const start = records[at + KIND_AND_LENGTH]!;
      const kind = start & FIRST_MASK;
      const slot = records[at + SLOT]!;
      // Like Node, drain ticks and promises after each body chunk, around trailers, before the connection's next record,
      // and, once trailers were seen, before every request.
      const known = this.#connections[slot];
      if (slot === bodySlot || known?.endsBody) return;
      if (kind === A_REQUEST && slot === lastSlot && known?.hadTrailers) return;
      const hasTrailers = kind === A_BODY_END && records[at + TRAILER_COUNT]! > 0;
      if (hasTrailers && slot === lastSlot) return;
      // Valid requests get their responses before an error ends the connection, including from a handler that needs a tick.
      if (kind === AN_ERROR && isAnyGood) return;
      this.#next = at + (start >>> SECOND_SHIFT);
      if (kind === A_REQUEST) {
        isAnyGood = true;
        this.#onRequest(records, at);
        if (records[at + BODY_LENGTH]! > 0) bodySlot = slot;
      } else {
        isAnyGood ||= kind === A_BODY_END;
        this.#onOther(records, at, kind);
        if (kind === A_BODY || hasTrailers) bodySlot = slot;
      }
      lastSlot = slot;
      // As in Node, nothing runs between the requests of one piece, however long their handlers take.
      const isLast = this.#next >= words || records[this.#next + SLOT] !== slot;
      if (isLast && now() >= until) break;
    }
    // Ends the bodies in another call, after ticks and promises.
    if (this.#whole.length > 0 && this.#next === words) {
      this.#resumeAt = words;
      this.#next = at;
    }
  }

  /**
   * Ends the bodies that came whole: ticks and promises have run since.
   * @returns true if ticks and promises must run before the next request too, as one of the connections has had trailers
   */
  #endBodies(): boolean {
    const whole = this.#whole;
    let hadTrailers = false;
    while (whole.length > 0) {
      const connection = whole.shift() as Connection;
      const sequence = whole.shift() as number;
      connection.endsBody = false;
      if (connection.destroyed || connection.closed) continue;
      hadTrailers ||= connection.hadTrailers;
      connection.server.onBodyEnd(connection, sequence, []);
    }
    return hadTrailers;
  }

  #onRequest(records: Uint32Array, at: number): void {
    const connection = this.#connection(records, at);
    const sequence = records[at + SEQUENCE]!;
    let methodAndFlags = records[at + METHOD_AND_FLAGS]!;
    // Kept entries must be stored even if the connection is gone.
    const url = this.#inbox.url(at);
    const block = this.#inbox.block(at);
    if (connection.destroyed || connection.closed) return;
    const length = records[at + BODY_LENGTH]!;
    if (length > 0 && (methodAndFlags & WHOLE) !== 0) {
      methodAndFlags &= ~WHOLE;
      connection.endsBody = true;
      this.#whole.push(connection, sequence);
    }
    connection.server.onRequest(
      connection,
      sequence,
      this.#tables.methods[methodAndFlags & FIRST_MASK]!,
      url,
      methodAndFlags >>> SECOND_SHIFT,
      block,
      length === 0 ? undefined : this.#inbox.bytes(records[at + BODY_OFFSET]!, length),
    );
  }

  #onOther(records: Uint32Array, at: number, kind: number): void {
    if (kind === KIND.STOPPED) this.#onStopped(records[at + SERVER]!);
    else if (kind === KIND.DROP) this.#onDrop(records, at);
    else if (kind === KIND.LINES) this.#onLines(records, at);
    else this.#onConnection(records, at, kind, this.#connection(records, at));
  }

  #onConnection(records: Uint32Array, at: number, kind: number, connection: Connection): void {
    const { server } = connection;
    if (kind === KIND.CLOSE) {
      this.#connections[connection.slot] = undefined;
      connection.closed = true;
      server.onClose(connection, records[at + CLOSE.ERRNO]!);
      return;
    }
    if (connection.destroyed || connection.closed) return;
    switch (kind) {
      case KIND.OPEN:
        server.onOpen(connection);
        break;
      case A_BODY:
        server.onBody(connection, records[at + BODY.SEQUENCE]!, this.#piece(records, at));
        break;
      case A_BODY_END:
        if (records[at + TRAILER_COUNT]! > 0) connection.hadTrailers = true;
        server.onBodyEnd(connection, records[at + BODY_END.SEQUENCE]!, this.#trailers(records, at));
        break;
      case KIND.DRAIN:
        server.onDrain(connection);
        break;
      case KIND.FILE:
        server.onFile(connection);
        break;
      case AN_ERROR:
        this.#onError(records, at, connection);
        break;
      case KIND.TIMEOUT:
        server.onTimeout(connection, records[at + TIMEOUT.IS_INACTIVE] === 1);
        break;
      case KIND.END:
        server.onEnd?.(connection);
        break;
      default:
        throw new Error(`The engine sent a record of kind ${kind}`);
    }
  }

  #piece(records: Uint32Array, at: number): Buffer {
    return this.#inbox.bytes(records[at + BODY.OFFSET]!, records[at + BODY.LENGTH]!);
  }

  #trailers(records: Uint32Array, at: number): string[] {
    const count = records[at + TRAILER_COUNT]!;
    if (count === 0) return [];
    // The last value ends at the end of the block, except for the line ends.
    const first = at + BODY_END.TRAILERS;
    const last = first + (count - 1) * HEADER.WORDS;
    const length = records[last + HEADER.VALUE_OFFSET]! + records[last + HEADER.VALUE_LENGTH]!;
    return this.#inbox.headers(records[at + BODY_END.BLOCK_OFFSET]!, length, count, first);
  }

  #onError(records: Uint32Array, at: number, connection: Connection): void {
    const problem = records[at + ERROR.PROBLEM]!;
    const offset = records[at + ERROR.PACKET_OFFSET]!;
    const length = records[at + ERROR.PACKET_LENGTH]!;
    const place = records[at + ERROR.PLACE]!;
    connection.server.onClientError(connection, {
      code: this.#tables.codes[problem]!,
      reason: this.#tables.reasons[problem]!,
      bytesParsed: records[at + ERROR.BYTES_PARSED]!,
      place: place === ERROR.NO_PLACE ? undefined : place,
      rawPacket: length === 0 ? undefined : this.#inbox.bytes(offset, length),
    });
  }

  #onDrop(records: Uint32Array, at: number): void {
    const offset = records[at + DROP.TEXT_OFFSET]!;
    const text = this.#inbox.text(offset, records[at + DROP.TEXT_LENGTH]!);
    const [remote, local] = text.split('\0').map(parseAddress);
    this.#servers[records[at + SERVER]!]?.events.onDrop(remote!, local!);
  }

  #onLines(records: Uint32Array, at: number): void {
    const areDue = records[at + LINES.ARE_DUE] === 1;
    this.#servers[records[at + SERVER]!]?.events.onLines(areDue);
  }

  #onStopped(number: number): void {
    const server = this.#servers[number];
    this.#servers[number] = undefined;
    server?.events.onStopped();
  }

  #connection(records: Uint32Array, at: number): Connection {
    const slot = records[at + SLOT]!;
    const generation = records[at + GENERATION]!;
    const known = this.#connections[slot];
    if (known !== undefined && known.generation === generation) return known;
    const { events } = this.#servers[records[at + SERVER]!]!;
    const connection = new Connection(this.#engine, events, slot, generation);
    this.#connections[slot] = connection;
    return connection;
  }
}

function parseAddress(text: string): SocketAddress {
  const [address = '', port = '0'] = text.split(' ');
  const family = address.includes(':') ? 'IPv6' : address === '' ? '' : 'IPv4';
  return { address, family, port: Number(port) };
}
