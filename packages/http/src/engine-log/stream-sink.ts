import { FileWrites } from './file-writes.ts';
import type { LineSink, LineSource } from './engine-lines.ts';

const BYTES = 64 * 1024;
/** Interval between checks of a stream that accepts no more data. */
const RETRY_MS = 25;
/** Max time that lines are held back on a stream that gathers them. */
const GATHER_MS = 25;

/** The methods used of pino's destinations, its transports and Node's own streams; each has some of them. */
export interface LineStream {
  write(line: string): unknown;
  flush?(callback?: (error?: Error | null) => void): void;
  flushSync?(): void;
  end?(): unknown;
  /** With a descriptor, several lines can be written at once: they are just bytes. */
  readonly fd?: unknown;
  readonly writableNeedDrain?: boolean;
  /** Options of `pino.destination()`. */
  readonly sync?: unknown;
  readonly minLength?: unknown;
  readonly maxLength?: unknown;
}

const sinks = new WeakMap<LineStream, StreamSink>();

/** Returns the one sink of a stream, which can be anything that pino writes to. */
export function streamSink(stream: LineStream): LineSink {
  let sink = sinks.get(stream);
  if (sink === undefined) sinks.set(stream, (sink = new StreamSink(stream)));
  return sink;
}

/**
 * Writes lines to a stream in each turn of the loop: one by one, like pino, unless the stream has a descriptor. A stream
 * that gathers lines before writing gets as many at a time: each write of pino's destination costs a thread, and copies. If
 * such a stream writes to a file, it gets them as bytes.
 */
class StreamSink implements LineSink {
  readonly dueBytes: number;
  readonly #stream: LineStream;
  readonly #sources = new Set<LineSource>();
  readonly #file: FileWrites | undefined;
  #bytes: Buffer | undefined;
  /** In use while the file is written to. */
  #page: Buffer | undefined;
  #retry: NodeJS.Timeout | undefined;
  #gathering: NodeJS.Timeout | undefined;
  #isWriting = false;
  #areDue = false;

  constructor(stream: LineStream) {
    this.#stream = stream;
    this.dueBytes = gatheredBytes(stream);
    if (this.dueBytes === 0) return;
    this.#file = new FileWrites(stream, () => this.#onFileWritten());
    this.#putLinesFirst();
  }

  attach(source: LineSource): void {
    this.#sources.add(source);
  }

  linesWait(areDue: boolean): void {
    if (areDue || this.dueBytes === 0) this.#writeDue();
    else this.#gathering ??= setTimeout(() => this.#writeDue(), GATHER_MS).unref();
  }

  end(): void {
    try {
      for (const source of this.#sources) {
        source.hold();
        this.#writeFrom(source, true);
      }
      this.#stream.flushSync?.();
    } catch {
      // sonic-boom throws before its file is open and after it is destroyed, thread-stream after its worker has exited.
    }
  }

  /** Flushes queued lines before any later write, flush or end of the stream. */
  #putLinesFirst(): void {
    const stream = this.#stream as unknown as Record<string, (...args: unknown[]) => unknown>;
    for (const name of ['write', 'flush', 'flushSync', 'end']) {
      const method = stream[name];
      if (method === undefined) continue;
      stream[name] = (...args) => {
        if (!this.#isWriting && this.#waits) this.#writeAll();
        return method.apply(stream, args);
      };
    }
  }

  get #waits(): boolean {
    for (const source of this.#sources) if (source.waits) return true;
    return false;
  }

  /** Lines that become due during a file write are written after it. */
  #writeDue(): void {
    this.#areDue = this.#file?.isWriting === true;
    if (this.#areDue || this.#writeBytes()) this.#endGathering();
    else this.#writeAll();
  }

  /** Returns false if the stream has no file, or its file cannot take bytes now. */
  #writeBytes(): boolean {
    const file = this.#file;
    if (file?.canWrite !== true) return false;
    const page = (this.#page ??= Buffer.allocUnsafeSlow(BYTES));
    let length = 0;
    for (const source of this.#sources) {
      length = source.take(page, 0);
      if (length > 0) break;
      if (source.isOver) this.#sources.delete(source);
    }
    if (length > 0) file.write(page.subarray(0, length));
    return true;
  }

  #onFileWritten(): void {
    if (this.#areDue) this.#writeDue();
    else if (this.#waits) this.linesWait(false);
  }

  #endGathering(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
  }

  #writeAll(): void {
    this.#endGathering();
    for (const source of this.#sources) {
      if (!this.#writeFrom(source, false)) return this.#retryLater();
    }
  }

  #retryLater(): void {
    if (this.#retry !== undefined) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#writeAll();
    }, RETRY_MS).unref();
  }

  /** Returns false if the stream accepts no more: lines stay in the engine, which sends no response without room for its line. */
  #writeFrom(source: LineSource, isLast: boolean): boolean {
    const bytes = (this.#bytes ??= Buffer.allocUnsafeSlow(BYTES));
    for (;;) {
      if (!isLast && this.#stream.writableNeedDrain === true) return false;
      const length = source.take(bytes, 0);
      if (length === 0) break;
      this.#write(bytes.toString('utf8', 0, length));
    }
    if (source.isOver) this.#sources.delete(source);
    return true;
  }

  #write(text: string): void {
    const stream = this.#stream;
    this.#isWriting = true;
    try {
      if (typeof stream.fd === 'number') stream.write(text);
      else for (const line of text.split('\n').slice(0, -1)) stream.write(`${line}\n`);
    } finally {
      this.#isWriting = false;
    }
  }
}

/** Returns how many bytes a pino destination gathers before writing: the same number may wait in the engine. */
function gatheredBytes({ sync, minLength, maxLength }: LineStream): number {
  // With a `maxLength`, it drops a chunk that is too long as a whole, so it gets small ones.
  const gathers = sync === false && typeof minLength === 'number' && !maxLength;
  return gathers ? Math.min(minLength, BYTES) : 0;
}
