import type { Answer } from '../answer/answer.ts';
import { LruMap } from '../store/lru-map.ts';
import type { Encoding } from './accept-encoding.ts';
import type { Compression } from './compress-options.ts';
import zlib from 'node:zlib';

/** Compressed bytes; `'due'` while they are made, `'none'` if the text itself is sent. */
export type Variant = Buffer | 'due' | 'none';

/** The variants of one kept response. */
interface Variants {
  /** The seal of the response: a later one under the same key has a different seal. */
  readonly seal: string;
  readonly br: Variant | undefined;
  readonly zstd: Variant | undefined;
  readonly gzip: Variant | undefined;
}

const maxBytes = 64 * 1024 * 1024;
/* Bytes of the objects around the data. */
const overhead = 512;

/** The compressed variants of the responses of one cache, in this process. */
export class VariantCache {
  readonly #variants = new LruMap<Variants>({ maxEntries: Infinity, maxSize: maxBytes });

  /** Returns the bytes of a variant. If undefined, the text is sent, and the bytes are made for later requests. */
  get(
    key: string,
    answer: Answer,
    encoding: Encoding,
    compression: Compression,
  ): Buffer | undefined {
    const known = this.#variants.get(key);
    const variants = known?.seal === answer.seal ? known : undefined;
    const variant = variants?.[encoding];
    if (variant === undefined) this.#make(key, answer, encoding, compression, variants);
    return typeof variant === 'object' ? variant : undefined;
  }

  /** Returns the state of a variant; undefined if it was never requested. */
  state(key: string, { seal }: Answer, encoding: Encoding): Variant | undefined {
    const known = this.#variants.get(key);
    return known?.seal === seal ? known[encoding] : undefined;
  }

  #make(
    key: string,
    answer: Answer,
    encoding: Encoding,
    { levels }: Compression,
    variants: Variants | undefined,
  ): void {
    const { json: text, seal, freshMs } = answer;
    const before = variants ?? { seal, br: undefined, zstd: undefined, gzip: undefined };
    const done = (bytes: Buffer | undefined): void => {
      const now = this.#variants.get(key);
      if (now?.seal !== seal) return;
      const isSmaller = bytes !== undefined && bytes.length < Buffer.byteLength(text);
      this.#put(key, { ...now, [encoding]: isSmaller ? bytes : 'none' }, freshMs);
    };
    if (compressor.add({ text, encoding, level: levels[encoding], done }))
      this.#put(key, { ...before, [encoding]: 'due' }, freshMs);
  }

  #put(key: string, variants: Variants, ttl: number): void {
    let size = overhead + key.length;
    for (const each of [variants.br, variants.zstd, variants.gzip])
      if (typeof each === 'object') size += each.length;
    this.#variants.put(key, variants, ttl, size);
  }
}

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
