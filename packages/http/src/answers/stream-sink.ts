import type { LineSink, LineSource } from './line-sink.ts';

const BYTES = 64 * 1024;
/** Between looks at a stream that takes no more. */
const RETRY_MS = 25;

/** What is used of pino's destinations, its transports and Node's own streams; each has some of it. */
export interface LineStream {
  write(line: string): unknown;
  flushSync?(): void;
  /** A descriptor: several lines are bytes to it like one. */
  readonly fd?: unknown;
  readonly writableNeedDrain?: boolean;
}

const sinks = new WeakMap<LineStream, StreamSink>();

/** The one sink of a stream: whatever pino writes to. */
export function streamSink(stream: LineStream): LineSink {
  let sink = sinks.get(stream);
  if (sink === undefined) sinks.set(stream, (sink = new StreamSink(stream)));
  return sink;
}

/** Writes lines to a stream in each turn of the loop: one by one, as pino does, unless the stream is a descriptor's. */
class StreamSink implements LineSink {
  readonly dueBytes = 0;
  readonly #stream: LineStream;
  readonly #sources = new Set<LineSource>();
  #bytes: Buffer | undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor(stream: LineStream) {
    this.#stream = stream;
  }

  attach(source: LineSource): void {
    this.#sources.add(source);
  }

  linesWait(): void {
    for (const source of this.#sources) {
      if (!this.#writeFrom(source, false)) return this.#retryLater();
    }
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

  #retryLater(): void {
    if (this.#retry !== undefined) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.linesWait();
    }, RETRY_MS).unref();
  }

  /** False if the stream takes no more: what waits stays in the engine, which gives no answer without room for its line. */
  #writeFrom(source: LineSource, isLast: boolean): boolean {
    const stream = this.#stream;
    const bytes = (this.#bytes ??= Buffer.allocUnsafeSlow(BYTES));
    for (;;) {
      if (!isLast && stream.writableNeedDrain === true) return false;
      const length = source.take(bytes, 0);
      if (length === 0) break;
      const text = bytes.toString('utf8', 0, length);
      if (typeof stream.fd === 'number') stream.write(text);
      else for (const line of text.split('\n').slice(0, -1)) stream.write(`${line}\n`);
    }
    if (source.isOver) this.#sources.delete(source);
    return true;
  }
}
