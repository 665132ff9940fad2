import { hexOfWord, randomWord, wordOfHex } from '../native/ids.ts';

/** A trace id: four words, which the spans of a trace share. Its text is made when something reads it. */
export class TraceId {
  readonly first: number;
  readonly second: number;
  readonly third: number;
  readonly fourth: number;
  #hex: string | undefined;

  constructor(first: number, second: number, third: number, fourth: number) {
    this.first = first;
    this.second = second;
    this.third = third;
    this.fourth = fourth;
    this.#hex = undefined;
  }

  static random(): TraceId {
    const last = randomWord();
    return new TraceId(randomWord(), randomWord(), randomWord(), last === 0 ? 1 : last);
  }

  /** @param hex a valid trace id */
  static parse(hex: string): TraceId {
    const id = new TraceId(
      wordOfHex(hex, 0),
      wordOfHex(hex, 8),
      wordOfHex(hex, 16),
      wordOfHex(hex, 24),
    );
    id.#hex = hex;
    return id;
  }

  get hex(): string {
    this.#hex ??=
      hexOfWord(this.first) +
      hexOfWord(this.second) +
      hexOfWord(this.third) +
      hexOfWord(this.fourth);
    return this.#hex;
  }

  put(words: Uint32Array, at: number): void {
    words[at] = this.first;
    words[at + 1] = this.second;
    words[at + 2] = this.third;
    words[at + 3] = this.fourth;
  }
}
