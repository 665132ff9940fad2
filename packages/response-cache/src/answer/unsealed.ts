import type { Answer } from './answer.ts';
import type { Kept } from './flight.ts';
import { unseal } from './seal.ts';

const maxEntries = 1_024;
/* In characters: a few MiB, and mostly texts that memory has anyway. */
const maxTotalLength = 8 * 1_024 * 1_024;
const maxCompared = 8_192;
/* One of these leaves room for others. */
const maxLength = maxTotalLength / 8;

interface Last {
  readonly raw: string;
  readonly answer: Answer;
}

/**
 * What stored values say. Reading the facts of one costs more than the rest of a hit from memory, and most hits find what the
 * last one under their key has found.
 */
export class Unsealed {
  readonly #last = new Map<string, Last>();
  #totalLength = 0;

  /** What was found last under `key`, where that had facts. */
  last(key: string): Answer | undefined {
    return this.#last.get(key)?.answer;
  }

  /** As `unseal`. */
  of(key: string, raw: string): Kept | undefined {
    if (this.#last.size > 0) {
      const last = this.#last.get(key);
      if (last !== undefined && isSame(last, raw)) return last.answer;
    }
    const kept = unseal(raw);
    if (kept instanceof Object && raw.length <= maxLength)
      this.#remember(key, { raw, answer: kept });
    return kept;
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

/* To compare a text of Redis with the last one takes longer than to read its facts; the seal is the end of exactly one value. */
function isSame({ raw: last, answer }: Last, raw: string): boolean {
  if (raw.length !== last.length) return false;
  return raw.length <= maxCompared ? raw === last : raw.endsWith(answer.seal);
}
