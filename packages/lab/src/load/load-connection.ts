import { connect, type Socket } from 'node:net';
import type { LoadOutcome } from './closed-loop.ts';
import type { Endpoint } from './endpoint.ts';
import type { PreparedRequest } from './request-bytes.ts';
import { MalformedResponseError, ResponseReader } from './response-reader.ts';

/** Delay before a connection that failed is opened again: a server that refuses connections would keep the load busy. */
const retryMs = 1;
const readBytes = 65_536;

export interface ConnectionLoad extends Endpoint {
  /** Requests in flight. */
  pipeline: number;
  /** Returns the request to send next. */
  next: () => PreparedRequest;
  /** Counted up; all connections of a load may share it. */
  counts: Pick<LoadOutcome, 'requests' | 'badStatus' | 'socketErrors'>;
  /** A response of which nothing comes for longer counts as an error of the connection. */
  responseTimeoutMs: number;
}

/** A connection that is kept busy: for each complete response it sends another request. It is opened again when it ends. */
export class LoadConnection implements Disposable {
  readonly #load: ConnectionLoad;
  readonly #buffer = Buffer.alloc(readBytes);
  readonly #timeout: NodeJS.Timeout;
  /** Requests without a complete response, oldest first. They are sent again on the next connection. */
  readonly #pending: PreparedRequest[] = [];
  #socket: Socket | undefined;
  #retry: NodeJS.Timeout | undefined;

  private constructor(load: ConnectionLoad) {
    this.#load = load;
    this.#timeout = setTimeout(() => this.#fail(), load.responseTimeoutMs);
  }

  static open(load: ConnectionLoad): LoadConnection {
    const connection = new LoadConnection(load);
    connection.#open();
    return connection;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timeout);
    clearTimeout(this.#retry);
    this.#abandon();
  }

  #open(): void {
    const { host, port, counts } = this.#load;
    const reader = new ResponseReader(
      () => this.#pending[0],
      (status) => {
        this.#pending.shift();
        counts.requests++;
        if (status >= 400) counts.badStatus++;
      },
    );
    const socket: Socket = connect({
      host,
      port,
      noDelay: true,
      // One buffer for all reads: a stream would allocate one for each.
      onread: {
        buffer: this.#buffer,
        callback: (size) => {
          if (socket === this.#socket) this.#read(reader, size);
          return true;
        },
      },
    });
    socket.on('end', () => {
      if (socket !== this.#socket) return;
      reader.end();
      if (reader.isClosed) this.#reopen();
      else this.#fail();
    });
    socket.on('error', () => {
      if (socket === this.#socket) this.#fail();
    });
    this.#socket = socket;
    this.#timeout.refresh();
    this.#send(0);
  }

  #read(reader: ResponseReader, size: number): void {
    this.#timeout.refresh();
    try {
      reader.read(this.#buffer.subarray(0, size));
    } catch (error) {
      if (!(error instanceof MalformedResponseError)) throw error;
      this.#fail();
      return;
    }
    if (reader.isClosed) this.#reopen();
    else this.#send(this.#pending.length);
  }

  /** Adds as many requests as are missing, and sends those from an index on with one write. */
  #send(from: number): void {
    while (this.#pending.length < this.#load.pipeline) this.#pending.push(this.#load.next());
    const messages = this.#pending.slice(from).map(({ bytes }) => bytes);
    if (messages.length === 0) return;
    this.#socket!.write(messages.length === 1 ? messages[0]! : Buffer.concat(messages));
  }

  /** Counts one error: that of the oldest request, which is not sent again. */
  #fail(): void {
    if (this.#socket === undefined) return;
    this.#load.counts.socketErrors++;
    this.#pending.shift();
    this.#abandon();
    this.#retry = setTimeout(() => this.#open(), retryMs);
  }

  #reopen(): void {
    this.#abandon();
    this.#open();
  }

  #abandon(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }
}
