/** An error that Redis replies with. */
export class RedisError extends Error {}

export type RespValue = string | number | boolean | null | RedisError | RespValue[];

export interface RespListener {
  onReply(value: RespValue): void;
  onPush(message: RespValue[]): void;
}

const incomplete = Symbol('incomplete');
const [carriageReturn, lineFeed] = [13, 10];

/**
 * Reads RESP3, in pieces of whatever length. A text may come in many of them: they are put together once it is there, so
 * that a large one is not copied with each.
 */
export class RespReader {
  readonly #listener: RespListener;
  #pieces: Buffer[] = [];
  #length = 0;
  /** Nothing can be made of fewer bytes. */
  #needed = 1;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(listener: RespListener) {
    this.#listener = listener;
  }

  /** @throws where the bytes are not RESP3. */
  read(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length < this.#needed) return;
    this.#bytes = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces, this.#length);
    this.#needed = 1;
    let start = 0;
    while (start < this.#bytes.length) {
      this.#at = start;
      const isPush = this.#bytes[start] === 0x3e;
      const value = this.#value();
      if (value === incomplete) break;
      start = this.#at;
      if (isPush) this.#listener.onPush(value as RespValue[]);
      else this.#listener.onReply(value);
    }
    const rest = this.#bytes.subarray(start);
    // Counted from the first byte that is kept.
    this.#needed = Math.max(rest.length + 1, this.#needed - start);
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#length = rest.length;
  }

  #value(): RespValue | typeof incomplete {
    const type = this.#bytes[this.#at];
    const line = this.#line();
    if (line === incomplete) return incomplete;
    switch (type) {
      case 0x2b: // +
      case 0x28: // ( a big number
        return line;
      case 0x2d: // -
        return new RedisError(line);
      case 0x3a: // :
      case 0x2c: // , a double
        return Number(line);
      case 0x5f: // _
        return null;
      case 0x23: // #
        return line === 't';
      case 0x24: // $
        return this.#text(Number(line));
      case 0x3d: // = a text with its format
        return this.#after(4, this.#text(Number(line)));
      case 0x21: // !
        return this.#error(this.#text(Number(line)));
      case 0x2a: // *
      case 0x7e: // ~ a set
      case 0x3e: // > a push
        return this.#list(Number(line));
      case 0x25: // % a map
        return this.#list(Number(line) * 2);
      default:
        throw new RedisError(`Byte ${type} does not begin a value of RESP3.`);
    }
  }

  #line(): string | typeof incomplete {
    const from = this.#at + 1;
    const end = this.#bytes.indexOf(carriageReturn, from);
    if (end === -1 || end + 1 >= this.#bytes.length) return incomplete;
    if (this.#bytes[end + 1] !== lineFeed)
      throw new RedisError('A line of RESP3 ends without \\n.');
    this.#at = end + 2;
    return this.#bytes.toString('latin1', from, end);
  }

  #text(length: number): string | null | typeof incomplete {
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

  #list(length: number): RespValue[] | null | typeof incomplete {
    if (length < 0) return null;
    const list: RespValue[] = [];
    for (let i = 0; i < length; i++) {
      const value = this.#value();
      if (value === incomplete) return incomplete;
      list.push(value);
    }
    return list;
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
