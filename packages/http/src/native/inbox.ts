import type { SharedMemory } from './memory.ts';
import type { Tables } from './tables.ts';
import { ENTRY, HEADER, PAIR, REQUEST } from './wire.ts';

// Destructured, because V8 folds constants of the same module, and loads another module's each time.
const { URL, URL_OFFSET, URL_LENGTH, BLOCK, BLOCK_OFFSET, BLOCK_LENGTH } = REQUEST;
const { HEADER_COUNT, HEADERS } = REQUEST;
const { IS_KNOWN, NUMBER_SHIFT } = ENTRY;
const { NAME, NAME_OFFSET, VALUE_OFFSET, VALUE_LENGTH, WORDS, LOWER_CASE } = HEADER;
const { FIRST_MASK, SECOND_SHIFT } = PAIR;

type FastBuffer = Buffer & { latin1Slice(start: number, end: number): string };

/** Values of longer blocks are copied out one by one: a slice of a string keeps the whole string alive. */
const LONG_BLOCK = 2048;

/** Creates strings and buffers from the engine's bytes, and keeps those that the engine will refer to. */
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

  /** Returns the URL of the request whose record begins at `at`. */
  url(at: number): string {
    const records = this.#records;
    const entry = records[at + URL]!;
    if ((entry & IS_KNOWN) !== 0) return this.#urls[entry >> NUMBER_SHIFT]!;
    const offset = records[at + URL_OFFSET]!;
    const url = this.#input.latin1Slice(offset, offset + records[at + URL_LENGTH]!);
    if (entry !== 0) this.#urls[entry >> NUMBER_SHIFT] = url;
    return url;
  }

  /** Returns the header block of the request whose record begins at `at`. */
  block(at: number): HeaderBlock {
    const records = this.#records;
    const entry = records[at + BLOCK]!;
    if ((entry & IS_KNOWN) !== 0) return this.#blocks[entry >> NUMBER_SHIFT]!;
    const offset = records[at + BLOCK_OFFSET]!;
    const length = records[at + BLOCK_LENGTH]!;
    const raw = this.headers(offset, length, records[at + HEADER_COUNT]!, at + HEADERS);
    const block = new HeaderBlock(raw, entry !== 0);
    if (entry !== 0) this.#blocks[entry >> NUMBER_SHIFT] = block;
    return block;
  }

  /** Returns names and values of the block at `offset`; their positions are in the records from `at` on. */
  headers(offset: number, length: number, count: number, at: number): string[] {
    const records = this.#records;
    const input = this.#input;
    const raw: string[] = [];
    const text = length <= LONG_BLOCK ? input.latin1Slice(offset, offset + length) : undefined;
    for (let index = 0; index < count; index++) {
      const name = records[at + NAME]!;
      const id = name & FIRST_MASK;
      if (id === 0) {
        const start = records[at + NAME_OFFSET]!;
        const end = start + ((name & ~LOWER_CASE) >>> SECOND_SHIFT);
        raw.push(text?.slice(start, end) ?? input.latin1Slice(offset + start, offset + end));
      } else {
        raw.push((name & LOWER_CASE) === 0 ? this.#names[id]! : this.#lowerNames[id]!);
      }
      const start = records[at + VALUE_OFFSET]!;
      const end = start + records[at + VALUE_LENGTH]!;
      raw.push(text?.slice(start, end) ?? input.latin1Slice(offset + start, offset + end));
      at += WORDS;
    }
    return raw;
  }

  text(offset: number, length: number): string {
    return this.#input.latin1Slice(offset, offset + length);
  }

  /** Returns a copy: the engine overwrites its own. */
  bytes(offset: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    this.#input.copy(bytes, 0, offset, offset + length);
    return bytes;
  }
}

type Headers = Record<string, string | string[]>;

/** The headers of a request. Requests with the same bytes may share one: it must not be changed. */
export class HeaderBlock {
  /** Name, value, name, value, as received. */
  readonly raw: readonly string[];
  /** The parsed headers, stored by the code that derives them. */
  headers: Headers | undefined = undefined;
  /** True if later requests may share it. */
  readonly isKept: boolean;

  constructor(raw: readonly string[], isKept: boolean) {
    this.raw = raw;
    this.isKept = isKept;
  }
}
