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

/** Max characters kept of a string: names are short, and the start of long strings, which are data, is enough. */
const keptCharacters = 120;

/** Reads the strings of a snapshot, up to its closing bracket. The end of a piece may cut one, and one may be many MB long. */
export class StringList {
  readonly #strings: string[];
  #isInside = false;
  #isEscaped = false;
  #kept = '';
  isDone = false;

  constructor(strings: string[]) {
    this.#strings = strings;
  }

  write(piece: string): number {
    let at = 0;
    while (at < piece.length && !this.isDone)
      at = this.#isInside ? this.#inside(piece, at) : this.#outside(piece, at);
    return at;
  }

  #outside(piece: string, from: number): number {
    for (let at = from; at < piece.length; at++) {
      const character = piece[at];
      if (character === '"') {
        this.#isInside = true;
        this.#kept = '';
        return at + 1;
      }
      if (character === ']') {
        this.isDone = true;
        return at + 1;
      }
    }
    return piece.length;
  }

  #inside(piece: string, from: number): number {
    let at = from;
    for (; at < piece.length; at++) {
      const character = piece.charCodeAt(at);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (character === 92) this.#isEscaped = true;
      else if (character === 34) break;
    }
    if (this.#kept.length < keptCharacters) this.#kept += piece.slice(from, at);
    if (at === piece.length) return at;
    this.#strings.push(unescaped(this.#kept));
    this.#isInside = false;
    return at + 1;
  }
}

const longestEscape = 6;

/**
 * Unescapes by parsing, which also copies: a slice would keep the whole piece alive. An incomplete escape at the end is dropped.
 */
function unescaped(text: string): string {
  const end = Math.min(text.length, keptCharacters);
  for (let shorter = 0; shorter < longestEscape; shorter++) {
    try {
      return JSON.parse(`"${text.slice(0, end - shorter)}"`) as string;
    } catch {
      continue;
    }
  }
  return text.slice(0, end);
}
