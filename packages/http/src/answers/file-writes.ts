import { fstatSync, write } from 'node:fs';

type Method = (...args: unknown[]) => unknown;

/** What a destination of pino shows of itself: whether it gathers lines, and whether it writes. */
interface Shown {
  readonly fd?: unknown;
  readonly destroyed?: unknown;
  readonly _len?: unknown;
  readonly _writing?: unknown;
  readonly _fsync?: unknown;
}

/** Calls that wait for the write, in the order they came in. `flushSync` cannot wait. */
const PATIENT = ['flush', 'end', 'reopen'];

/**
 * Writes bytes to the file of a destination of pino, while that has nothing to write. Its own `write` takes strings: measured and
 * encoded twice, which costs more than the write. What is called meanwhile follows the bytes.
 */
export class FileWrites {
  readonly #stream: Record<string, Method> & Shown;
  readonly #own = new Map<string, Method>();
  readonly #onEnd: () => void;
  #isWriting = false;
  #held = '';
  #later: (() => void)[] = [];

  /** @param onEnd Called when bytes were written. */
  constructor(stream: object, onEnd: () => void) {
    this.#stream = stream as Record<string, Method> & Shown;
    this.#onEnd = onEnd;
    this.#wrap('write', (line) => this.#hold(line));
    this.#wrap('flushSync', () => this.#flushSync());
    for (const name of PATIENT) {
      this.#wrap(name, (...args) => void this.#later.push(() => this.#call(name, ...args)));
    }
  }

  get isWriting(): boolean {
    return this.#isWriting;
  }

  /** Whether bytes can be written now: whatever else the destination is doing, it does by itself. */
  get canWrite(): boolean {
    const { fd, destroyed, _len, _writing, _fsync } = this.#stream;
    const isIdle = !this.#isWriting && _writing === false && _len === 0;
    return isIdle && _fsync === false && destroyed === false && isFile(fd);
  }

  /** The buffer is in use until `isWriting` is false. */
  write(bytes: Buffer): void {
    this.#isWriting = true;
    write(this.#stream.fd as unknown as number, bytes, 0, bytes.length, null, (error, written) => {
      const left = error === null ? bytes.subarray(written) : bytes;
      // Once it is destroyed, its descriptor may be another file's.
      const isOver = error !== null || left.length === 0 || this.#stream.destroyed === true;
      if (isOver) this.#end(left.toString());
      else this.write(left);
    });
  }

  /** @param left What could not be written: the destination finds the same fault, and reports it. */
  #end(left: string): void {
    this.#isWriting = false;
    this.#writeText(left + this.#takeHeld());
    const later = this.#later;
    this.#later = [];
    for (const call of later) call();
    this.#onEnd();
  }

  #hold(line: unknown): boolean {
    this.#held += String(line);
    return true;
  }

  #takeHeld(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }

  /** As the destination has it: a write under way is not waited for. */
  #flushSync(): void {
    this.#writeText(this.#takeHeld());
    this.#call('flushSync');
  }

  #writeText(text: string): void {
    if (text !== '' && this.#stream.destroyed !== true) this.#call('write', text);
  }

  #call(name: string, ...args: unknown[]): unknown {
    return this.#own.get(name)?.apply(this.#stream, args);
  }

  #wrap(name: string, meanwhile: Method): void {
    const own = this.#stream[name];
    if (typeof own !== 'function') return;
    this.#own.set(name, own);
    this.#stream[name] = (...args) =>
      this.#isWriting ? meanwhile(...args) : own.apply(this.#stream, args);
  }
}

/** A pipe may take a part, or nothing: the destination knows how to go on. */
function isFile(fd: unknown): boolean {
  try {
    return typeof fd === 'number' && fstatSync(fd).isFile();
  } catch {
    return false;
  }
}
