import type { Answer } from './answer.ts';
import type { Kept } from './flight.ts';
import { unseal } from './seal.ts';

const maxEntries = 1_024;
/* So that all of them are a few MiB, and mostly texts that memory has anyway. */
const maxLength = 8_192;

/**
 * What stored values say. Reading the facts of one costs more than the rest of a hit from memory, and most hits find what the
 * last one under their key has found.
 */
export class Unsealed {
  readonly #last = new Map<string, { readonly raw: string; readonly answer: Answer }>();

  /** What was found last under `key`, where that had facts. */
  last(key: string): Answer | undefined {
    return this.#last.get(key)?.answer;
  }

  /** As `unseal`. */
  of(key: string, raw: string): Kept | undefined {
    if (this.#last.size > 0) {
      const last = this.#last.get(key);
      if (last !== undefined && last.raw === raw) return last.answer;
    }
    const kept = unseal(raw);
    if (kept instanceof Object && raw.length <= maxLength) {
      if (this.#last.size >= maxEntries) this.#last.delete(this.#last.keys().next().value!);
      this.#last.set(key, { raw, answer: kept });
    }
    return kept;
  }
}
