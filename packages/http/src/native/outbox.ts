import type { Port as AddonPort } from '../../native.cjs';
import type { SharedMemory } from './memory.ts';
import { COMMAND, OUTSTANDING, PAIR, WRITE_FLAGS } from './wire.ts';

// Destructured, because V8 folds constants of the same module, and loads another module's each time.
const { WRITTEN, UNWATCHED, FIRST_COMMAND } = OUTSTANDING;
const { ACTION_AND_FLAGS, SLOT, GENERATION, SEQUENCE, OFFSET, LENGTH, FACTS, WORDS, WRITE } =
  COMMAND;
const { SECOND_SHIFT } = PAIR;
const { END } = WRITE_FLAGS;

type FastBuffer = Buffer & {
  latin1Write(text: string, offset: number, length?: number): number;
  utf8Write(text: string, offset: number, length?: number): number;
};

/** From this size, bytes are sent without copying. */
const LARGE = 16 * 1024;
/** Max bytes of a string's character in UTF-8. */
const MAX_UTF8_BYTES = 3;

/** Queue of responses: the engine takes them from shared memory, without a call. */
export class Outbox {
  readonly #addon: AddonPort;
  readonly #commands: Uint32Array;
  readonly #output: FastBuffer;
  readonly #lastCommand: number;
  readonly #size: number;
  #used = 0;

  constructor(addon: AddonPort, memory: SharedMemory) {
    this.#addon = addon;
    this.#commands = memory.commands;
    this.#output = memory.output as FastBuffer;
    this.#lastCommand = memory.commands.length - WORDS;
    this.#size = memory.output.length;
  }

  /** Writes a head and a body, which are sent together. */
  answer(
    slot: number,
    generation: number,
    sequence: number,
    flags: number,
    facts: number,
    head: string,
    body: string | Uint8Array,
  ): void {
    const isText = typeof body === 'string';
    const maxBytes = head.length + (isText ? body.length * MAX_UTF8_BYTES : body.byteLength);
    if (maxBytes > this.#size / 2 || (!isText && body.byteLength >= LARGE)) {
      this.write(slot, generation, sequence, 0, 0, head, 'latin1');
      this.write(slot, generation, sequence, flags, facts, body, 'utf8');
      return;
    }
    const start = this.#room(maxBytes);
    const output = this.#output;
    let end = start + output.latin1Write(head, start, head.length);
    if (isText) {
      end += output.utf8Write(body, end, maxBytes);
    } else {
      output.set(body, end);
      end += body.byteLength;
    }
    this.#command(slot, generation, sequence, flags, facts, start, end);
  }

  write(
    slot: number,
    generation: number,
    sequence: number,
    flags: number,
    facts: number,
    data: string | Uint8Array,
    encoding: BufferEncoding | undefined,
  ): void {
    if (typeof data !== 'string') {
      const { byteLength } = data;
      if (byteLength >= LARGE) {
        this.#addon.write(slot, generation, sequence, flags, facts, data);
        // The kernel may hold back its last packet for more data: see `cork.rs`.
        if ((flags & END) === 0) this.#watch();
        return;
      }
      const start = this.#room(byteLength);
      this.#output.set(data, start);
      this.#command(slot, generation, sequence, flags, facts, start, start + byteLength);
      return;
    }
    const isLatin1 = encoding === 'latin1' || encoding === 'binary';
    const isUtf8 = encoding === undefined || encoding === 'utf8' || encoding === 'utf-8';
    const maxBytes = isLatin1 ? data.length : data.length * MAX_UTF8_BYTES;
    if ((!isLatin1 && !isUtf8) || maxBytes >= LARGE * MAX_UTF8_BYTES) {
      this.write(slot, generation, sequence, flags, facts, Buffer.from(data, encoding), undefined);
      return;
    }
    const start = this.#room(maxBytes);
    const output = this.#output;
    const length = isLatin1
      ? output.latin1Write(data, start, data.length)
      : output.utf8Write(data, start, maxBytes);
    this.#command(slot, generation, sequence, flags, facts, start, start + length);
  }

  #watch(): void {
    if (Atomics.load(this.#commands, UNWATCHED) !== 0) this.#addon.watch();
  }

  /** Returns the offset of the next bytes; flushes queued bytes if they would not fit. */
  #room(bytes: number): number {
    const words = this.#commands[WRITTEN]!;
    // The engine has taken all commands.
    if (words === FIRST_COMMAND) this.#used = 0;
    if (this.#used + bytes > this.#size || words > this.#lastCommand) {
      this.#addon.flush();
      this.#used = 0;
    }
    return this.#used;
  }

  #command(
    slot: number,
    generation: number,
    sequence: number,
    flags: number,
    facts: number,
    start: number,
    end: number,
  ): void {
    const commands = this.#commands;
    const at = commands[WRITTEN]!;
    commands[at + ACTION_AND_FLAGS] = WRITE | (flags << SECOND_SHIFT);
    commands[at + SLOT] = slot;
    commands[at + GENERATION] = generation;
    commands[at + SEQUENCE] = sequence;
    commands[at + OFFSET] = start;
    commands[at + LENGTH] = end - start;
    commands[at + FACTS] = facts;
    this.#used = end;
    // After this store, another thread may take it: see `sender.rs`.
    Atomics.store(commands, WRITTEN, at + WORDS);
    this.#watch();
  }
}
