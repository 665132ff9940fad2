import { AsyncLocalStorage } from 'node:async_hooks';
import fs from 'node:fs';
import { Readable } from 'node:stream';
import { nextTick, setImmediate } from '../node/clocks.ts';
import type { EngineResponse, FileSource } from '../exchange.ts';
import { kHeld } from '../node/message-state.ts';
import type { EmitterInternals } from '../node/node-internals.ts';
import { countListeners } from '../node/own-listeners.ts';
import { nodeEmit, original, type Methods } from '../node/replaced-methods.ts';
import { kConnection, kSequence } from '../node/message-state.ts';

/** Bytes that leave before the stream is looked at again: those who watch it see it move in such steps. */
const PART = 1024 * 1024;
/** A file that the engine takes nothing of so many times in a row is left to its stream. */
const MOST_REFUSALS = 8;
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
 * A file on its way from its stream into a response: where nobody could tell, the engine sends parts of it in place of reads. A part
 * that goes no further, whatever the reason, is followed by a read of Node's own, which finds the same end, error or bytes.
 */
export class FileTransfer implements FileSource {
  readonly #stream: FileStream;
  readonly #response: EngineResponse;
  readonly #node: StreamMethods;
  readonly #isPlain: (response: EngineResponse) => boolean;
  /** The file's facts, as Node's `fs` gives them. */
  #stat: fs.Stats | undefined;
  #refusals = 0;
  /** Bytes that the read wants which waits for a part. */
  #asked = 0;
  /** Runs in the context of that read. Null while no part is under way. */
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

  /** In place of the stream's own. False when it is not worth another try. */
  read(size: number): boolean {
    const moved = this.#mayBegin() ? this.#begin(size) : 0;
    if (moved === undefined) {
      this.#asked = size;
      this.#inContext = AsyncLocalStorage.snapshot();
      this.#response[kConnection].file = this;
    } else if (moved > 0) {
      this.#count(moved);
      // A file that is complete keeps nobody waiting; of a longer one others have their turn between two parts.
      const later = this.#left() > 0 ? setImmediate : nextTick;
      later(() => this.#readOn());
    } else {
      this.#refusals += 1;
      this.#readByNode(size);
      return this.#refusals < MOST_REFUSALS;
    }
    this.#refusals = 0;
    return true;
  }

  /** The part that is under way is over. */
  onMoved(): void {
    const inContext = this.#end();
    inContext?.(() => this.#readOn());
  }

  /** Somebody wants no more of it: what has not left is read as usual. */
  stop(): void {
    const inContext = this.#end();
    inContext?.(() => this.#readByNode(this.#asked));
  }

  /** The connection is gone. */
  onLost(): void {
    const inContext = this.#end();
    setImmediate(() => inContext?.(() => this.#readByNode(this.#asked)));
  }

  /** As on Node the error of the file comes first, and destroys the stream. */
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

  /** Nothing more is read. */
  abandon(): void {
    this.#end();
  }

  /** Only what nobody could see otherwise: a pipe that is the stream's one reader, and a response in the middle of its body. */
  #mayBegin(): boolean {
    const stream = this.#stream;
    const response = this.#response;
    const connection = response[kConnection];
    const { pipes, awaitDrainWriters } = stream._readableState;
    return (
      // The first bytes came the usual way: what is wrong with a file mostly shows there, before a head is sent.
      stream.bytesRead > 0 &&
      response._headerSent &&
      response._hasBody &&
      response[kHeld] === null &&
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
    // As long as those that reads would have become, so that none is cut where the part ends.
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

  /** Bytes up to the end that was asked for. */
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

  /** Ends the read without bytes, as streams may: the next one follows. */
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
