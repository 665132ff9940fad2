import zlib from 'node:zlib';
import type { Encoding } from './accept-encoding.ts';

/** A text to compress. */
export interface Job {
  readonly text: string;
  readonly encoding: Encoding;
  readonly level: number;
  /** Called with undefined if the compression failed. */
  done(bytes: Buffer | undefined): void;
}

/* Waiting texts are kept in memory. If the queue is full, a text is compressed for a later request instead. */
const maxWaiting = 256;

/**
 * Compresses texts in libuv's pool, one at a time in the whole process: its four threads also serve files, DNS and hashes of
 * the app.
 */
class Compressor {
  readonly #waiting: Job[] = [];
  #isRunning = false;

  /** @returns false if the queue is full */
  add(job: Job): boolean {
    if (this.#waiting.length >= maxWaiting) return false;
    this.#waiting.push(job);
    // After the response that asks for it: starting takes about 50 µs of the main thread.
    if (!this.#isRunning) this.#runLater();
    return true;
  }

  #runLater(): void {
    this.#isRunning = true;
    setImmediate(() => {
      const job = this.#waiting.shift()!;
      compress(job, (bytes) => {
        this.#isRunning = false;
        if (this.#waiting.length > 0) this.#runLater();
        job.done(bytes);
      });
    });
  }
}

export const compressor: Compressor = new Compressor();

function compress({ text, encoding, level }: Job, done: (bytes: Buffer | undefined) => void): void {
  const { constants } = zlib;
  const bytes = Buffer.from(text);
  const end = (error: Error | null, made: Buffer): void =>
    done(error === null ? exactly(made) : undefined);
  switch (encoding) {
    case 'br': {
      const params = {
        [constants.BROTLI_PARAM_QUALITY]: level,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      };
      return zlib.brotliCompress(bytes, { params }, end);
    }
    case 'zstd':
      return zlib.zstdCompress(
        bytes,
        { params: { [constants.ZSTD_c_compressionLevel]: level } },
        end,
      );
    case 'gzip':
      return zlib.gzip(bytes, { level }, end);
  }
}

/* Copies the result of zlib, which is a slice of a 16 KiB block of memory. */
function exactly(made: Buffer): Buffer {
  const exact = Buffer.allocUnsafeSlow(made.length);
  made.copy(exact);
  return exact;
}
