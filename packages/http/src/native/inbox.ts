import { HeaderBlock } from './header-block.ts';
import type { SharedMemory } from './memory.ts';
import type { Tables } from './tables.ts';

type FastBuffer = Buffer & { latin1Slice(start: number, end: number): string };

const HEADER_WORDS = 4;
const LOWER_CASE = 0x8000_0000;
/** Above this values are copied out one by one: a slice of a string keeps all of it. */
const LONG_BLOCK = 2048;

/** Makes strings and buffers of what the engine wrote, and keeps what it says it will refer to. */
export class Inbox {
  readonly #records: Uint32Array;
  readonly #input: FastBuffer;
  readonly #names: readonly string[];
  readonly #lowerNames: readonly string[];
  readonly #urls: string[] = [];
  readonly #blocks: HeaderBlock[] = [];

  constructor(memory: SharedMemory, tables: Tables) {
    this.#records = memory.records;
    this.#input = memory.input as FastBuffer;
    this.#names = tables.names;
    this.#lowerNames = tables.lowerNames;
  }

  /** `at` is where the record has the URL's number, offset and length. */
  url(at: number): string {
    const records = this.#records;
    const number = records[at]!;
    if ((number & 1) === 1) return this.#urls[number >> 1]!;
    const offset = records[at + 1]!;
    const url = this.#input.latin1Slice(offset, offset + records[at + 2]!);
    if (number !== 0) this.#urls[number >> 1] = url;
    return url;
  }

  /** `at` is where the record has the block's number, offset and length, and its headers at `headers`. */
  block(at: number, headers: number): HeaderBlock {
    const records = this.#records;
    const number = records[at]!;
    if ((number & 1) === 1) return this.#blocks[number >> 1]!;
    const raw = this.headers(records[at + 1]!, records[at + 2]!, records[at + 3]!, headers);
    const block = new HeaderBlock(raw);
    if (number !== 0) this.#blocks[number >> 1] = block;
    return block;
  }

  /** Names and values of a block that begins at `offset`; their places are in the records from `at` on. */
  headers(offset: number, length: number, count: number, at: number): string[] {
    const records = this.#records;
    const input = this.#input;
    const raw: string[] = [];
    const text = length <= LONG_BLOCK ? input.latin1Slice(offset, offset + length) : undefined;
    for (let index = 0; index < count; index++) {
      const name = records[at]!;
      const id = name & 0xff;
      if (id === 0) {
        const start = records[at + 1]!;
        const end = start + ((name & ~LOWER_CASE) >>> 8);
        raw.push(text?.slice(start, end) ?? input.latin1Slice(offset + start, offset + end));
      } else {
        raw.push((name & LOWER_CASE) === 0 ? this.#names[id]! : this.#lowerNames[id]!);
      }
      const start = records[at + 2]!;
      const end = start + records[at + 3]!;
      raw.push(text?.slice(start, end) ?? input.latin1Slice(offset + start, offset + end));
      at += HEADER_WORDS;
    }
    return raw;
  }

  text(offset: number, length: number): string {
    return this.#input.latin1Slice(offset, offset + length);
  }

  /** A copy: the engine writes over its own. */
  bytes(offset: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    this.#input.copy(bytes, 0, offset, offset + length);
    return bytes;
  }
}
