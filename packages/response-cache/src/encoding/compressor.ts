import zlib from 'node:zlib';
import type { Encoding } from './accept-encoding.ts';

/** A text to compress. */
export interface Job {
  readonly text: string;
  readonly encoding: Encoding;
  readonly level: number;
  /** Is given undefined where that failed. */
  done(bytes: Buffer | undefined): void;
}

/* What waits is kept in memory. A text that finds no room is compressed for a later request. */
const maxWaiting = 256;

/**
 * Compresses texts in libuv's pool, one at a time in the whole process: its four threads also do files, DNS and hashes for
 * the app.
 */
class Compressor {
  readonly #waiting: Job[] = [];
  #isRunning = false;

  /** @returns false when the queue is full */
  add(job: Job): boolean {
    if (this.#waiting.length >= maxWaiting) return false;
    this.#waiting.push(job);
    // Behind the response that asks for it: to begin takes the main thread some 50 µs.
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

/* What zlib makes is a part of a piece of memory of 16 KiB. */
function exactly(made: Buffer): Buffer {
  const exact = Buffer.allocUnsafeSlow(made.length);
  made.copy(exact);
  return exact;
}
