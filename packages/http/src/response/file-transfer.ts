import { AsyncLocalStorage } from 'node:async_hooks';
import fs from 'node:fs';
import { Readable } from 'node:stream';
import { nextTick, setImmediate } from '../node/clocks.ts';
import type { EngineResponse, FileSource } from '../exchange.ts';
import { kBuffered } from '../node/message-state.ts';
import { type EmitterInternals, countListeners } from '../node/node-internals.ts';
import { nodeEmit, original, type Methods } from '../node/replaced-methods.ts';
import { kConnection, kSequence } from '../node/message-state.ts';

/** Bytes sent before the stream is updated: observers see it advance in such steps. */
const PART = 1024 * 1024;
/** After this many consecutive refusals by the engine, the file is left to its stream. */
const MAX_REFUSALS = 8;
const NOTHING = Buffer.alloc(0);

/** The parts of a `fs.ReadStream` that its types leave out. */
export type FileStream = fs.ReadStream &
  EmitterInternals & {
    fd: number;
    pos: number | undefined;
    end: number;
    bytesRead: number;
    autoClose: boolean;
    _readableState: { pipes: unknown[]; awaitDrainWriters: unknown };
  };

export interface StreamMethods {
  readonly _read: (this: FileStream, size: number) => void;
  readonly _destroy: (
    this: FileStream,
    error: Error | null,
    callback: (error?: Error | null) => void,
  ) => void;
}

const readable = Readable.prototype as never as Methods;
const files = fs as never as Methods;
const push = original(readable, 'push');
const read = original(readable, 'read');
const readFile = original(files, 'read');
const statFile = original(files, 'fstatSync');

/**
 * Sends a file from its stream into a response: if no observer can tell the difference, the engine sends parts of it in
 * place of reads. A part that stops, for any reason, is followed by a read of Node's own, which finds the same end, error or
 * bytes.
 */
export class FileTransfer implements FileSource {
  readonly #stream: FileStream;
  readonly #response: EngineResponse;
  readonly #node: StreamMethods;
  readonly #isPlain: (response: EngineResponse) => boolean;
  /** Result of `fstat` on the file. */
  #stat: fs.Stats | undefined;
  #refusals = 0;
  /** Size of the read that waits for a part. */
  #asked = 0;
  /** Runs in the context of that read. Null if no part is in progress. */
  #inContext: ((next: () => void) => void) | null = null;

  constructor(
    stream: FileStream,
    response: EngineResponse,
    node: StreamMethods,
    isPlain: (response: EngineResponse) => boolean,
  ) {
    this.#stream = stream;
    this.#response = response;
    this.#node = node;
    this.#isPlain = isPlain;
  }

  /** Replaces the stream's own `_read`. Returns false if another try is not worthwhile. */
  read(size: number): boolean {
    const moved = this.#mayBegin() ? this.#begin(size) : 0;
    if (moved === undefined) {
      this.#asked = size;
      this.#inContext = AsyncLocalStorage.snapshot();
      this.#response[kConnection].file = this;
    } else if (moved > 0) {
      this.#count(moved);
      // A complete file continues in the next tick; between two parts of a longer one, other work gets its turn.
      const later = this.#left() > 0 ? setImmediate : nextTick;
      later(() => this.#readOn());
    } else {
      this.#refusals += 1;
      this.#readByNode(size);
      return this.#refusals < MAX_REFUSALS;
    }
    this.#refusals = 0;
    return true;
  }

  /** The current part is finished. */
  onMoved(): void {
    const inContext = this.#end();
    inContext?.(() => this.#readOn());
  }

  /** A consumer wants no more of it: unsent bytes are read as usual. */
  stop(): void {
    const inContext = this.#end();
    inContext?.(() => this.#readByNode(this.#asked));
  }

  /** The connection is gone. */
  onLost(): void {
    const inContext = this.#end();
    setImmediate(() => inContext?.(() => this.#readByNode(this.#asked)));
  }

  /** As in Node, the error of the file comes first, and destroys the stream. */
  onUnreadable(next: () => void): void {
    const stream = this.#stream;
    const inContext = this.#end();
    if (inContext === null || stream.destroyed || !stream.autoClose) return next();
    fs.read(stream.fd, Buffer.alloc(1), 0, 1, stream.pos ?? null, (error) => {
      if (error === null) {
        next();
        inContext(() => this.#readByNode(this.#asked));
        return;
      }
      inContext(() => stream.destroy(error));
      setImmediate(next);
    });
  }

  /** Stops without further reads. */
  abandon(): void {
    this.#end();
  }

  /**
   * Returns true only if no difference can be observed: the pipe is the stream's only reader, and the response is inside
   * its body.
   */
  #mayBegin(): boolean {
    const stream = this.#stream;
    const response = this.#response;
    const connection = response[kConnection];
    const { pipes, awaitDrainWriters } = stream._readableState;
    return (
      // The first bytes were read as usual: most errors of a file show up there, before a head is sent.
      stream.bytesRead > 0 &&
      response._headerSent &&
      response._hasBody &&
      response[kBuffered] === null &&
      connection.first === response &&
      connection.file === null &&
      !connection.native.destroyed &&
      !connection.native.closed &&
      this.#isPlain(response) &&
      pipes.length === 1 &&
      pipes[0] === response &&
      (stream.readableFlowing === true || awaitDrainWriters === response) &&
      stream.readableLength === 0 &&
      stream.readableEncoding === null &&
      countListeners(stream, 'data') === 1 &&
      countListeners(stream, 'readable') === 0 &&
      stream.push === push &&
      stream.read === read &&
      stream.emit === nodeEmit &&
      fs.read === readFile &&
      fs.fstatSync === statFile
    );
  }

  #begin(size: number): number | undefined {
    const stream = this.#stream;
    const response = this.#response;
    // A multiple of the size of Node's reads, so that no chunk is cut at the end of the part.
    const chunk = response.chunkedEncoding ? size : 0;
    const part = chunk === 0 ? PART : Math.max(1, Math.floor(PART / chunk)) * chunk;
    const length = Math.min(this.#left(), part);
    const stat = (this.#stat ??= statOf(stream.fd));
    if (length <= 0 || stat === undefined) return 0;
    return response[kConnection].native.sendFile(response[kSequence], {
      fd: stream.fd,
      at: stream.pos ?? -1,
      length,
      chunk,
      device: stat.dev,
      inode: stat.ino,
    });
  }

  /** Bytes left up to the requested end. */
  #left(): number {
    const { pos, end, bytesRead } = this.#stream;
    return end - (pos ?? bytesRead) + 1;
  }

  #count(moved: number): void {
    const stream = this.#stream;
    if (stream.pos !== undefined) stream.pos += moved;
    stream.bytesRead += moved;
  }

  #end(): ((next: () => void) => void) | null {
    const inContext = this.#inContext;
    if (inContext === null) return null;
    this.#inContext = null;
    const connection = this.#response[kConnection];
    connection.file = null;
    this.#count(connection.native.endFile());
    return inContext;
  }

  /** Ends the read without bytes, which streams allow: the next read follows. */
  #readOn(): void {
    if (!this.#stream.destroyed) this.#stream.push(NOTHING);
  }

  #readByNode(size: number): void {
    if (!this.#stream.destroyed) this.#node._read.call(this.#stream, size);
  }
}

function statOf(fd: number): fs.Stats | undefined {
  try {
    return fs.fstatSync(fd);
  } catch {
    return undefined;
  }
}
