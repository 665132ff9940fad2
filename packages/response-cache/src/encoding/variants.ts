import type { Answer } from '../answer/answer.ts';
import { LruMap } from '../store/lru-map.ts';
import type { Encoding } from './accept-encoding.ts';
import type { Compression } from './compress-options.ts';
import { compressor } from './compressor.ts';

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
