/** Receives the numbers of a section in order, and its inner brackets. */
export interface NumberSink {
  number(value: number): void;
  open?(): void;
  close?(): void;
}

const zero = 48;
const nine = 57;
const open = 91;
const close = 93;

/** Reads the whole numbers of one section, up to its closing bracket. The end of a piece may cut a number. */
export class NumberLists {
  readonly #sink: NumberSink;
  #value = -1;
  #depth = 1;

  constructor(sink: NumberSink) {
    this.#sink = sink;
  }

  get isDone(): boolean {
    return this.#depth === 0;
  }

  write(piece: string): number {
    let value = this.#value;
    const sink = this.#sink;
    let at = 0;
    for (; at < piece.length && this.#depth > 0; at++) {
      const code = piece.charCodeAt(at);
      if (code >= zero && code <= nine) {
        value = (value < 0 ? 0 : value * 10) + code - zero;
        continue;
      }
      if (value >= 0) {
        sink.number(value);
        value = -1;
      }
      if (code === open) {
        this.#depth++;
        sink.open?.();
      } else if (code === close) {
        this.#depth--;
        if (this.#depth > 0) sink.close?.();
      }
    }
    this.#value = value;
    return at;
  }
}
