import type { Port as AddonPort } from '../../native.cjs';
import type { SharedMemory } from './memory.ts';
import { COMMAND, OUTSTANDING, PAIR, WRITE_FLAGS } from './wire.ts';

// Constants of this module, which V8 folds; it loads those of another module each time.
const { WRITTEN, UNWATCHED, FIRST_COMMAND } = OUTSTANDING;
const { ACTION_AND_FLAGS, SLOT, GENERATION, SEQUENCE, OFFSET, LENGTH, WORDS, WRITE } = COMMAND;
const { SECOND_SHIFT } = PAIR;
const { END } = WRITE_FLAGS;

type FastBuffer = Buffer & {
  latin1Write(text: string, offset: number, length?: number): number;
  utf8Write(text: string, offset: number, length?: number): number;
};

/** From here on bytes are sent from where they lie. */
const LARGE = 16 * 1024;
/** The most bytes a character of a string takes in UTF-8. */
const WIDEST = 3;

/** Where responses are written: the engine takes them from shared memory, without a call. */
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

  /** A head and a body, which leave together. */
  answer(
    slot: number,
    generation: number,
    sequence: number,
    flags: number,
    head: string,
    body: string | Uint8Array,
  ): void {
    const isText = typeof body === 'string';
    const most = head.length + (isText ? body.length * WIDEST : body.byteLength);
    if (most > this.#size / 2 || (!isText && body.byteLength >= LARGE)) {
      this.write(slot, generation, sequence, 0, head, 'latin1');
      this.write(slot, generation, sequence, flags, body, 'utf8');
      return;
    }
    const start = this.#room(most);
    const output = this.#output;
    let end = start + output.latin1Write(head, start, head.length);
    if (isText) {
      end += output.utf8Write(body, end, most);
    } else {
      output.set(body, end);
      end += body.byteLength;
    }
    this.#command(slot, generation, sequence, flags, start, end);
  }

  write(
    slot: number,
    generation: number,
    sequence: number,
    flags: number,
    data: string | Uint8Array,
    encoding: BufferEncoding | undefined,
  ): void {
    if (typeof data !== 'string') {
      const { byteLength } = data;
      if (byteLength >= LARGE) {
        this.#addon.write(slot, generation, sequence, flags, data);
        // Its end may wait in the kernel for more: see `cork.rs`.
        if ((flags & END) === 0) this.#watch();
        return;
      }
      const start = this.#room(byteLength);
      this.#output.set(data, start);
      this.#command(slot, generation, sequence, flags, start, start + byteLength);
      return;
    }
    const isLatin1 = encoding === 'latin1' || encoding === 'binary';
    const isUtf8 = encoding === undefined || encoding === 'utf8' || encoding === 'utf-8';
    const most = isLatin1 ? data.length : data.length * WIDEST;
    if ((!isLatin1 && !isUtf8) || most >= LARGE * WIDEST) {
      this.write(slot, generation, sequence, flags, Buffer.from(data, encoding), undefined);
      return;
    }
    const start = this.#room(most);
    const output = this.#output;
    const length = isLatin1
      ? output.latin1Write(data, start, data.length)
      : output.utf8Write(data, start, most);
    this.#command(slot, generation, sequence, flags, start, start + length);
  }

  #watch(): void {
    if (Atomics.load(this.#commands, UNWATCHED) !== 0) this.#addon.watch();
  }

  /** Where the next bytes go, after what waits was sent if they would not fit. */
  #room(bytes: number): number {
    const words = this.#commands[WRITTEN]!;
    // The engine has taken what was there.
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
    this.#used = end;
    // From here on, another thread may take it: see `sender.rs`.
    Atomics.store(commands, WRITTEN, at + WORDS);
    this.#watch();
  }
}
