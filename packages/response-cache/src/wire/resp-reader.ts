/** An error that Redis replies with. */
export class RedisError extends Error {}

export type RespValue = string | number | boolean | null | RedisError | RespValue[];

export interface RespListener {
  onReply(value: RespValue): void;
  onPush(message: RespValue[]): void;
}

/** A list that still lacks some of its values. */
interface OpenList {
  readonly values: RespValue[];
  readonly length: number;
  readonly isPush: boolean;
}

const incomplete = Symbol('incomplete');
const [carriageReturn, lineFeed] = [13, 10];
const [minus, zero, nine] = [0x2d, 0x30, 0x39];

/**
 * Reads RESP3, in pieces of any length. A text may arrive in many pieces: they are joined once it is complete, so that a large
 * one is not copied with each piece. A list that arrives in many pieces continues where it was.
 */
export class RespReader {
  readonly #listener: RespListener;
  readonly #open: OpenList[] = [];
  #pieces: Buffer[] = [];
  #length = 0;
  /** Min number of bytes for the next value. */
  #needed = 1;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(listener: RespListener) {
    this.#listener = listener;
  }

  /**
   * Reads `piece` without keeping a reference to it: its memory may be used again.
   *
   * @throws if the bytes are not RESP3.
   */
  read(piece: Buffer): void {
    if (this.#length + piece.length < this.#needed) return this.#keep(Buffer.from(piece));
    this.#bytes =
      this.#length === 0
        ? piece
        : Buffer.concat([...this.#pieces, piece], this.#length + piece.length);
    this.#pieces = [];
    this.#length = 0;
    this.#needed = 1;
    let start = 0;
    for (this.#at = 0; this.#at < this.#bytes.length; start = this.#at) {
      if (!this.#readValue()) break;
    }
    if (start === this.#bytes.length) return;
    // Counted from the first byte that is kept.
    this.#needed = Math.max(this.#bytes.length - start + 1, this.#needed - start);
    this.#keep(Buffer.from(this.#bytes.subarray(start)));
  }

  #keep(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  /** Reads a value, or the beginning of a list. Returns false if a part of it is missing. */
  #readValue(): boolean {
    const type = this.#bytes[this.#at];
    switch (type) {
      case 0x2a: // *
      case 0x7e: // ~ a set
      case 0x3e: // > a push
        return this.#openList(this.#number(), type === 0x3e);
      case 0x25: {
        // % a map
        const pairs = this.#number();
        return this.#openList(pairs === incomplete ? incomplete : pairs * 2, false);
      }
      default: {
        const value = this.#scalar(type);
        if (value !== incomplete) this.#add(value);
        return value !== incomplete;
      }
    }
  }

  #openList(length: number | typeof incomplete, isPush: boolean): boolean {
    if (length === incomplete) return false;
    if (length > 0) this.#open.push({ values: [], length, isPush });
    else this.#add(length === 0 ? [] : null);
    return true;
  }

  /** Adds a value to the list it belongs to, which may become complete with it, and belong to another list itself. */
  #add(value: RespValue): void {
    let whole = value;
    let list = this.#open.at(-1);
    while (list !== undefined) {
      list.values.push(whole);
      if (list.values.length < list.length) return;
      this.#open.pop();
      if (list.isPush) return this.#listener.onPush(list.values);
      whole = list.values;
      list = this.#open.at(-1);
    }
    this.#listener.onReply(whole);
  }

  #scalar(type: number | undefined): RespValue | typeof incomplete {
    switch (type) {
      case 0x24: // $
        return this.#text(this.#number());
      case 0x3a: // :
        return this.#number();
      case 0x3d: // = a text with its format
        return this.#after(4, this.#text(this.#number()));
      case 0x21: // !
        return this.#error(this.#text(this.#number()));
      default: {
        const line = this.#line();
        return line === incomplete ? incomplete : valueOf(type, line);
      }
    }
  }

  #line(): string | typeof incomplete {
    const from = this.#at + 1;
    const end = this.#bytes.indexOf(carriageReturn, from);
    if (end === -1 || end + 1 >= this.#bytes.length) return incomplete;
    this.#endLine(end);
    return this.#bytes.toString('latin1', from, end);
  }

  /** Reads a line that is a whole number, without creating a text, because each value of a list has one. */
  #number(): number | typeof incomplete {
    const bytes = this.#bytes;
    const from = this.#at + 1;
    const isNegative = bytes[from] === minus;
    const digits = isNegative ? from + 1 : from;
    let [at, number] = [digits, 0];
    for (; at < bytes.length && bytes[at]! >= zero && bytes[at]! <= nine; at++)
      number = number * 10 + bytes[at]! - zero;
    if (at + 1 >= bytes.length) return incomplete;
    if (bytes[at] !== carriageReturn || at === digits)
      throw new RedisError('A number of RESP3 has something other than digits.');
    this.#endLine(at);
    return isNegative ? -number : number;
  }

  #endLine(at: number): void {
    if (this.#bytes[at + 1] !== lineFeed) throw new RedisError('A line of RESP3 ends without \\n.');
    this.#at = at + 2;
  }

  #text(length: number | typeof incomplete): string | null | typeof incomplete {
    if (length === incomplete) return incomplete;
    if (length === -1) return null;
    const end = this.#at + length;
    if (end + 2 > this.#bytes.length) {
      this.#needed = end + 2;
      return incomplete;
    }
    const text = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end + 2;
    return text;
  }

  #after(
    count: number,
    text: string | null | typeof incomplete,
  ): string | null | typeof incomplete {
    return typeof text === 'string' ? text.slice(count) : text;
  }

  #error(text: string | null | typeof incomplete): RedisError | typeof incomplete {
    return text === incomplete ? incomplete : new RedisError(text ?? '');
  }
}

/** Returns the value of a line that begins with the byte `type`. */
function valueOf(type: number | undefined, line: string): RespValue {
  switch (type) {
    case 0x2b: // +
    case 0x28: // ( a big number
      return line;
    case 0x2d: // -
      return new RedisError(line);
    case 0x2c: // , a double
      return Number(line);
    case 0x5f: // _
      return null;
    case 0x23: // #
      return line === 't';
    default:
      throw new RedisError(`Byte ${type} does not begin a value of RESP3.`);
  }
}
