import {
  BEGIN,
  CLOSE,
  END,
  FIRST,
  KIND,
  LEVEL,
  PEER,
  REFUSED,
  RING,
} from '../../../telemetry/src/native/wire.ts';

/** A record without its times. */
export type Fact =
  | { kind: 'PEER'; at: string; address: string; port: number }
  | { kind: 'BEGIN'; at: string; line: string; block: string; flags: number }
  | { kind: 'END'; at: string; status: number; route: number; flags: number; isSent: boolean }
  | { kind: 'SENT' | 'CLOSE'; at: string }
  | { kind: 'REFUSED'; at: string; status: number; code: string };

/** A telemetry ring in memory, and its reader. Lengths are in words. */
export class Ring {
  readonly words: Uint32Array;
  readonly #bytes: Buffer;
  readonly #capacity: number;

  constructor(level: number = LEVEL.HEADS, capacity = 64 * 1024) {
    this.words = new Uint32Array(RING.FIRST_RECORD + capacity);
    this.#bytes = Buffer.from(this.words.buffer);
    this.#capacity = capacity;
    this.words[RING.VERSION] = RING.LAYOUT;
    this.words[RING.LEVEL] = level;
  }

  /** Returns the records that were written since the last call. */
  take(): Fact[] {
    const facts: Fact[] = [];
    const written = Atomics.load(this.words, RING.WRITTEN);
    let taken = this.words[RING.TAKEN]!;
    while (taken !== written) {
      const at = RING.FIRST_RECORD + (taken % this.#capacity);
      const first = this.words[at]!;
      const kind = first & FIRST.KIND_MASK;
      if (kind !== KIND.PAD) facts.push(this.#fact(at, kind));
      taken = (taken + (first >>> FIRST.LENGTH_SHIFT)) >>> 0;
      Atomics.store(this.words, RING.TAKEN, taken);
    }
    return facts;
  }

  #fact(at: number, kind: number): Fact {
    const word = (index: number): number => this.words[at + index]!;
    const text = (index: number, length: number): string => {
      const start = (at + index) * 4;
      return this.#bytes.toString('latin1', start, start + length);
    };
    const connection = `${word(BEGIN.SLOT)}.${word(BEGIN.GENERATION)}`;
    const exchange = `${connection}.${word(BEGIN.SEQUENCE)}`;
    switch (kind) {
      case KIND.PEER: {
        const address = text(PEER.BYTES, word(PEER.LENGTH));
        return { kind: 'PEER', at: connection, address, port: word(PEER.PORT) };
      }
      case KIND.BEGIN: {
        const length = word(BEGIN.LINE_LENGTH);
        const line = text(BEGIN.BYTES, length);
        const block = text(BEGIN.BYTES, length + word(BEGIN.BLOCK_LENGTH)).slice(length);
        return { kind: 'BEGIN', at: exchange, line, block, flags: word(BEGIN.FLAGS) };
      }
      case KIND.END: {
        const facts = word(END.STATUS_AND_ROUTE);
        const status = facts >>> END.STATUS_SHIFT;
        const route = facts & END.MAX_ROUTE;
        const isSent = word(END.SENT_AT) !== 0;
        return { kind: 'END', at: exchange, status, route, flags: word(END.FLAGS), isSent };
      }
      case KIND.SENT:
        return { kind: 'SENT', at: connection };
      case KIND.CLOSE:
        if (word(CLOSE.AT) === 0) throw new Error('a CLOSE without its time');
        return { kind: 'CLOSE', at: connection };
      case KIND.REFUSED: {
        const code = text(REFUSED.BYTES, word(REFUSED.LENGTH));
        return { kind: 'REFUSED', at: connection, status: word(REFUSED.STATUS), code };
      }
      default:
        throw new Error(`a record of kind ${kind}`);
    }
  }
}
