const digits = 36;
const perBlock = digits ** 2;
/* Formatting a number in base 36 takes V8 ten times as long as a table lookup. */
const lastTwo: readonly string[] = Array.from({ length: perBlock }, (_, n) =>
  n.toString(digits).padStart(2, '0'),
);

/** Generates the ids of one process: `PREFIX-1a2`, each once. */
export class Ids {
  readonly #prefix: string;
  #block = 0;
  #next = 0;
  #start: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
    this.#start = `${prefix}-0`;
  }

  next(): string {
    if (this.#next === perBlock) {
      this.#next = 0;
      this.#start = `${this.#prefix}-${(++this.#block).toString(digits)}`;
    }
    return this.#start + lastTwo[this.#next++]!;
  }
}
