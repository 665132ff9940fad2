import { END, FIRST, KIND, LEVEL, RING } from '../src/native/wire.ts';

/** A ring, and a writer as simple as can be: records never reach its end. */
export class Ring {
  readonly words: Uint32Array;

  constructor(records = 1 << 14) {
    this.words = new Uint32Array(RING.FIRST_RECORD + records);
    this.words[RING.VERSION] = RING.LAYOUT;
    this.words[RING.LEVEL] = LEVEL.HEADS;
    for (let at = 0; at < 6; at++) this.words[RING.SEED + at] = at + 1;
  }

  /** Writes a record: the words after its first, and bytes. */
  put(kind: number, words: readonly number[], bytes = Buffer.alloc(0)): void {
    const length = 1 + words.length + Math.ceil(bytes.length / 4);
    const at = RING.FIRST_RECORD + this.words[RING.WRITTEN]!;
    this.words[at] = kind | (length << FIRST.LENGTH_SHIFT);
    this.words.set(words, at + 1);
    const from = this.words.byteOffset + (at + 1 + words.length) * 4;
    new Uint8Array(this.words.buffer, from).set(bytes);
    Atomics.add(this.words, RING.WRITTEN, length);
  }

  begin(place: Place, head: string, flags = 0): void {
    const line = head.slice(0, head.indexOf('\r\n'));
    const block = head.slice(line.length + 2);
    const words = [...place, ...time(), line.length, block.length, flags];
    this.put(KIND.BEGIN, words, Buffer.from(line + block, 'latin1'));
  }

  end(place: Place, status: number, route = 0): void {
    const word = ((status << END.STATUS_SHIFT) | route) >>> 0;
    this.put(KIND.END, [...place, word, ...time(), ...time(), 0]);
  }

  close([slot, generation]: Place): void {
    this.put(KIND.CLOSE, [slot, generation, ...time(), 0]);
  }

  peer([slot, generation]: Place, address: string, port: number): void {
    this.put(KIND.PEER, [slot, generation, port, address.length], Buffer.from(address));
  }

  numbered(kind: number, number: number, value: string): void {
    const bytes = Buffer.from(value);
    this.put(kind, [number, bytes.length], bytes);
  }
}

/** Slot, generation and sequence. */
export type Place = readonly [number, number, number];

/** The words of a text in the fields of a record. */
export function text(value: string): number[] {
  const bytes = Buffer.alloc(Math.ceil(Buffer.byteLength(value) / 4) * 4);
  const length = bytes.write(value);
  const words = Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readUInt32LE(at * 4));
  return [length * 2, ...words];
}

/** The words of the present. */
export function time(): [number, number] {
  return process.hrtime();
}
