import { Answer } from './answer.ts';
import { KnownSums, textIn, decodeEntry } from './entry-format.ts';
import type { Kept } from './answer-options.ts';

const maxEntries = 1_024;
/* In characters: a few MiB, mostly of texts that are in memory anyway. */
const maxTotalLength = 8 * 1_024 * 1_024;
const maxCompared = 8_192;
/* One text of this length still leaves room for others. */
const maxLength = maxTotalLength / 8;
/* Once full, it takes one in this many new keys: short-lived entries would only give the garbage collector more to move. */
const oneOf = 64;

interface Last {
  readonly raw: string;
  readonly kept: Kept;
}

/**
 * Reads stored values, and remembers the last ones. Parsing the facts of a value costs more than the rest of a hit from memory,
 * and so does the checksum of a few KB. Most hits find the same value as the previous hit under their key.
 */
export class DecodedEntries {
  readonly #last = new Map<string, Last>();
  #totalLength = 0;
  #passed = 0;
  readonly #sums = new KnownSums();

  /** Returns the last value under `key`, if it had facts. */
  last(key: string): Answer | undefined {
    const kept = this.#last.get(key)?.kept;
    return kept instanceof Answer ? kept : undefined;
  }

  /**
   * Same as `decodeEntry`, but computes the checksum of each value only once.
   *
   * @param isOwn true for a value from the memory of this process, whose checksum is never computed
   */
  of(key: string, raw: string, isOwn = false): Kept | undefined {
    const text = isOwn ? textIn(raw) : undefined;
    if (text !== undefined) return text;
    const last = this.#last.size > 0 ? this.#last.get(key) : undefined;
    if (last !== undefined && isSame(last, raw)) return last.kept;
    // A value that replaces another is checked even if its checksum is known: it may be a damaged copy.
    const kept = decodeEntry(raw, isOwn ? 'all' : last === undefined ? this.#sums : undefined);
    if (kept !== undefined && this.#hasRoom(raw.length, last)) this.#remember(key, { raw, kept });
    return kept;
  }

  #hasRoom(length: number, last: Last | undefined): boolean {
    if (length > maxLength) return false;
    const isFull = this.#last.size >= maxEntries || this.#totalLength + length > maxTotalLength;
    if (last !== undefined || !isFull) return true;
    this.#passed = (this.#passed + 1) % oneOf;
    return this.#passed === 0;
  }

  #remember(key: string, last: Last): void {
    this.#forget(key);
    this.#last.set(key, last);
    this.#totalLength += last.raw.length;
    while (this.#last.size > maxEntries || this.#totalLength > maxTotalLength)
      this.#forget(this.#last.keys().next().value!);
  }

  #forget(key: string): void {
    const last = this.#last.get(key);
    if (last === undefined) return;
    this.#last.delete(key);
    this.#totalLength -= last.raw.length;
  }
}

/* Comparing a long text from Redis takes longer than parsing its facts, so only its seal is compared, which is unique. */
function isSame({ raw: last, kept }: Last, raw: string): boolean {
  if (raw.length !== last.length) return false;
  const isCompared = raw.length <= maxCompared || typeof kept === 'string';
  return isCompared ? raw === last : raw.endsWith(kept.seal);
}
