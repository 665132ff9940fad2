import { FileWrites } from './file-writes.ts';
import type { LineSink, LineSource } from './line-sink.ts';

const BYTES = 64 * 1024;
/** Between looks at a stream that takes no more. */
const RETRY_MS = 25;
/** How long lines wait for others where a stream gathers them. */
const GATHER_MS = 25;

/** What is used of pino's destinations, its transports and Node's own streams; each has some of it. */
export interface LineStream {
  write(line: string): unknown;
  flush?(callback?: (error?: Error | null) => void): void;
  flushSync?(): void;
  end?(): unknown;
  /** A descriptor: several lines are bytes to it like one. */
  readonly fd?: unknown;
  readonly writableNeedDrain?: boolean;
  /** What `pino.destination()` was given. */
  readonly sync?: unknown;
  readonly minLength?: unknown;
  readonly maxLength?: unknown;
}

const sinks = new WeakMap<LineStream, StreamSink>();

/** The one sink of a stream: whatever pino writes to. */
export function streamSink(stream: LineStream): LineSink {
  let sink = sinks.get(stream);
  if (sink === undefined) sinks.set(stream, (sink = new StreamSink(stream)));
  return sink;
}

/**
 * Writes lines to a stream in each turn of the loop: one by one, as pino does, unless the stream is a descriptor's. A stream that
 * gathers lines before it writes them gets as many at a time: each write of pino's destination costs a thread, and copies. A file
 * of such a stream gets them as bytes.
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
      // sonic-boom throws before its file is open and when it is destroyed, thread-stream after its worker has gone.
    }
  }

  /** Lines that wait here come before what is written, or flushed, after them. */
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

  /** What becomes due while the file is written to is due behind that. */
  #writeDue(): void {
    this.#areDue = this.#file?.isWriting === true;
    if (this.#areDue || this.#writeBytes()) this.#endGathering();
    else this.#writeAll();
  }

  /** False if the stream has no file, or its file cannot take bytes now. */
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

  /** False if the stream takes no more: what waits stays in the engine, which gives no answer without room for its line. */
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

/** How many bytes a destination of pino gathers before it writes them: so many may wait in the engine. */
function gatheredBytes({ sync, minLength, maxLength }: LineStream): number {
  // With a `maxLength` it drops what is too long as a whole, so it gets little at a time.
  const gathers = sync === false && typeof minLength === 'number' && !maxLength;
  return gathers ? Math.min(minLength, BYTES) : 0;
}
