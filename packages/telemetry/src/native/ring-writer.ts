import { TextTable } from './text-table.ts';
import { putMonotonic } from './clock.ts';
import { FIRST, KIND, RING, TIME, LEVEL } from './wire.ts';
import { randomFillSync } from 'node:crypto';

/** Texts of up to so many characters are written by a loop: longer ones take it more time than a call of native code. */
const MAX_LOOPED = 16;
/** Max bytes of a UTF-16 code unit in UTF-8. */
const MAX_BYTES = 3;

/**
 * The one writer of a ring. A record is composed where it will be:
 *
 *     do {
 *       writer.start(KIND.SPAN);
 *       writer.word(…);
 *     } while (writer.finish());
 *
 * No user code may run meanwhile.
 */
export class RingWriter {
  readonly ring: Uint32Array<ArrayBuffer>;
  readonly #bytes: Buffer;
  readonly #wake: () => void;
  readonly #capacity: number;
  readonly #texts = new TextTable();
  /** Position after the last record. */
  #written: number;
  #taken = 0;
  /** Words between the last record and the end of the memory that this record leaves unused. */
  #padding = 0;
  #kind = 0;
  // Below: indices of the ring.
  #first = 0;
  #at = 0;
  #limit = 0;

  /** @param wake wakes the reader, which sleeps although a quarter of the ring is full */
  constructor(ring: Uint32Array<ArrayBuffer>, wake: () => void) {
    this.ring = ring;
    this.#bytes = Buffer.from(ring.buffer, ring.byteOffset, ring.byteLength);
    this.#wake = wake;
    this.#capacity = ring.length - RING.FIRST_RECORD;
    this.#written = Atomics.load(ring, RING.WRITTEN);
  }

  start(kind: number): void {
    this.#taken = Atomics.load(this.ring, RING.TAKEN);
    const at = (this.#written + this.#padding) & (this.#capacity - 1);
    this.#kind = kind;
    this.#first = RING.FIRST_RECORD + at;
    this.#at = this.#first + 1;
    this.#limit =
      this.#first + Math.min(this.#free() - this.#padding, this.#capacity - at, this.#capacity / 4);
  }

  /**
   * Publishes the record. One that does not fit is counted as lost.
   *
   * @returns true if the record has to be composed once more: it crossed the end of the memory, and fits at its start
   */
  finish(): boolean {
    const length = this.#at - this.#first;
    if (this.#at <= this.#limit) {
      this.ring[this.#first] = this.#kind | (length << FIRST.LENGTH_SHIFT);
      this.#publish(length);
      if (this.#texts.hasNew) this.#writeTexts();
      return false;
    }
    if (this.#padding === 0 && this.#fitsAtStart(length)) return true;
    this.#padding = 0;
    this.#texts.forgetNew();
    Atomics.add(this.ring, RING.LOST, 1);
    return false;
  }

  word(word: number): void {
    if (this.#at < this.#limit) this.ring[this.#at] = word;
    this.#at++;
  }

  /**
   * Makes room for words that the caller writes to `ring` itself.
   *
   * @returns the index of the first one; 0 if they do not fit
   */
  reserve(count: number): number {
    const at = this.#at;
    this.#at += count;
    return this.#at <= this.#limit ? at : 0;
  }

  /** A time of `performance.now()`. */
  time(ms: number): void {
    const at = this.reserve(2);
    if (at !== 0) putMonotonic(this.ring, at, ms);
  }

  /** A time since 1970. */
  epoch(seconds: number, nanos: number): void {
    this.word(seconds);
    this.word(nanos | TIME.IS_EPOCH);
  }

  /** A text by its number, if it has one. It gets one for later records otherwise. */
  shared(text: string): void {
    const number = this.#texts.numberOf(text);
    if (number === 0) this.text(text);
    else this.word(number * 2 + 1);
  }

  /** A text with its bytes. */
  text(text: string): void {
    if (!this.#ascii(text, 1)) this.#utf8(text, 1);
  }

  /** The length of bytes, and these. */
  bytes(bytes: Uint8Array): void {
    const end = this.#at + 1 + wordsOf(bytes.length);
    if (end <= this.#limit) {
      this.ring[this.#at] = bytes.length;
      // An array whose memory was transferred is empty, and cannot be copied.
      if (bytes.length > 0) this.#bytes.set(bytes, (this.#at + 1) * 4);
    }
    this.#at = end;
  }

  /** Writes the record of a route, which END names by its number. Returns false if it did not fit. */
  route(number: number, pattern: string): boolean {
    return this.#named(KIND.ROUTE, number, pattern);
  }

  /** Returns false unless all characters are ASCII and few, and there is room. `shift` is 1 if the length is a text's first word. */
  #ascii(text: string, shift: number): boolean {
    const { length } = text;
    const { ring } = this;
    const end = this.#at + 1 + wordsOf(length);
    if (length > MAX_LOOPED || end > this.#limit) return false;
    let at = this.#at;
    let all = 0;
    ring[at++] = length << shift;
    let index = 0;
    for (; index + 4 <= length; index += 4) {
      const one = text.charCodeAt(index);
      const two = text.charCodeAt(index + 1);
      const three = text.charCodeAt(index + 2);
      const four = text.charCodeAt(index + 3);
      all |= one | two | three | four;
      ring[at++] = one | (two << 8) | (three << 16) | (four << 24);
    }
    if (index < length) {
      let rest = 0;
      for (let left = 0; index < length; index++, left += 8) {
        const code = text.charCodeAt(index);
        all |= code;
        rest |= code << left;
      }
      ring[at] = rest;
    }
    if (all > 0x7f) return false;
    this.#at = end;
    return true;
  }

  #utf8(text: string, shift: number): void {
    const at = (this.#at + 1) * 4;
    const room = this.#limit * 4 - at;
    // One call where the text fits whatever its characters are.
    const isSure = text.length * MAX_BYTES <= room;
    const length = isSure ? this.#bytes.write(text, at, room, 'utf8') : Buffer.byteLength(text);
    if (!isSure && length <= room) this.#bytes.write(text, at, room, 'utf8');
    if (length <= room) this.ring[this.#at] = length << shift;
    this.#at += 1 + wordsOf(length);
  }

  /** TEXT and ROUTE are alike: a number, and a text. */
  #named(kind: number, number: number, text: string): boolean {
    const before = this.#written;
    do {
      this.start(kind);
      this.word(number);
      if (!this.#ascii(text, 0)) this.#utf8(text, 0);
    } while (this.finish());
    return this.#written !== before;
  }

  /** They follow the record in which they were new: a record is composed in place, so they cannot precede it. */
  #writeTexts(): void {
    for (const text of this.#texts.takeNew()) {
      if (this.#named(KIND.TEXT, this.#texts.next, text)) this.#texts.add(text);
    }
  }

  #free(): number {
    return this.#capacity - ((this.#written - this.#taken) >>> 0);
  }

  /** Leaves the rest of the memory unused, if a record fits at its start. */
  #fitsAtStart(length: number): boolean {
    const untilEnd = this.ring.length - this.#first;
    const needed = untilEnd + length;
    if (length <= untilEnd || length > this.#capacity / 4 || needed > this.#free()) return false;
    this.ring[this.#first] = KIND.PAD | (untilEnd << FIRST.LENGTH_SHIFT);
    this.#padding = untilEnd;
    return true;
  }

  #publish(length: number): void {
    const written = (this.#written + this.#padding + length) >>> 0;
    this.#padding = 0;
    this.#written = written;
    Atomics.store(this.ring, RING.WRITTEN, written);
    // The position that was read may have moved on: then the reader is woken a little early.
    if ((written - this.#taken) >>> 0 < this.#capacity / 4) return;
    if (Atomics.exchange(this.ring, RING.SLEEPS, 0) !== 0) this.#wake();
  }
}

function wordsOf(bytes: number): number {
  return (bytes + 3) >> 2;
}

/** Words of the seed from which the ids of requests are derived. */
const SEED_WORDS = 6;

/** Number of words of records that {@link createRing} makes room for by default: 256 KiB. */
export const DEFAULT_RING_SIZE = 65_536;

/**
 * Makes the memory of a ring, with a random seed.
 *
 * @param size number of words of records: a power of two, 1,024 or more
 * @param level the facts that its writer reports: one of `LEVEL`
 */
export function createRing(
  size: number = DEFAULT_RING_SIZE,
  level: number = LEVEL.HEADS,
): Uint32Array<ArrayBuffer> {
  if (!Number.isInteger(Math.log2(size)) || size < 1024) {
    throw new RangeError(`The size of a ring must be a power of two, 1024 or more; got ${size}.`);
  }
  const ring = new Uint32Array(RING.FIRST_RECORD + size);
  ring[RING.LEVEL] = level;
  randomFillSync(ring, RING.SEED, SEED_WORDS);
  Atomics.store(ring, RING.VERSION, RING.LAYOUT);
  return ring;
}
