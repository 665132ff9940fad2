/** A longer text is seldom one of a few. */
const MAX_LENGTH = 256;
const MAX_TEXTS = 4_096;
const NONE: readonly string[] = [];

/** The texts that records name by their numbers. */
export class TextTable {
  readonly #numbers = new Map<string, number>();
  #new: string[] = [];

  /** The number of the next text. */
  get next(): number {
    return this.#numbers.size + 1;
  }

  get hasNew(): boolean {
    return this.#new.length > 0;
  }

  /** Returns the number of a text, 0 if it has none. It is new then, if there is room for it. */
  numberOf(text: string): number {
    const number = this.#numbers.get(text);
    if (number !== undefined) return number;
    if (text.length > 0 && text.length <= MAX_LENGTH && this.#numbers.size < MAX_TEXTS) {
      this.#new.push(text);
    }
    return 0;
  }

  add(text: string): void {
    this.#numbers.set(text, this.next);
  }

  /** Returns the new texts, each once. */
  takeNew(): readonly string[] {
    const texts = new Set(this.#new);
    this.forgetNew();
    const room = MAX_TEXTS - this.#numbers.size;
    return room === 0 ? NONE : [...texts].slice(0, room);
  }

  forgetNew(): void {
    this.#new = [];
  }
}
