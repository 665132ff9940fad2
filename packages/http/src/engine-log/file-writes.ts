import { fstatSync, write } from 'node:fs';

type Method = (...args: unknown[]) => unknown;

/** Fields of a pino destination: they show if it gathers lines, and if it is writing. */
interface DestinationState {
  readonly fd?: unknown;
  readonly destroyed?: unknown;
  readonly _len?: unknown;
  readonly _writing?: unknown;
  readonly _fsync?: unknown;
}

/** Calls that are queued during a write, in their order. `flushSync` cannot wait. */
const QUEUED_CALLS = ['flush', 'end', 'reopen'];

/**
 * Writes bytes to the file of a pino destination while the destination is idle. Its own `write` takes strings: measured and
 * encoded twice, which costs more than the write. Calls made meanwhile are queued until the bytes are written.
 */
export class FileWrites {
  readonly #stream: Record<string, Method> & DestinationState;
  readonly #own = new Map<string, Method>();
  readonly #onEnd: () => void;
  #isWriting = false;
  #queued = '';
  #later: (() => void)[] = [];

  /** @param onEnd Called when bytes were written. */
  constructor(stream: object, onEnd: () => void) {
    this.#stream = stream as Record<string, Method> & DestinationState;
    this.#onEnd = onEnd;
    this.#wrap('write', (line) => this.#queue(line));
    this.#wrap('flushSync', () => this.#flushSync());
    for (const name of QUEUED_CALLS) {
      this.#wrap(name, (...args) => void this.#later.push(() => this.#call(name, ...args)));
    }
  }

  get isWriting(): boolean {
    return this.#isWriting;
  }

  /** True if bytes can be written now; everything else is left to the destination. */
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
      // After destruction, its descriptor may be another file's.
      const isOver = error !== null || left.length === 0 || this.#stream.destroyed === true;
      if (isOver) this.#end(left.toString());
      else this.write(left);
    });
  }

  /** @param left Unwritten text: the destination hits the same error and reports it. */
  #end(left: string): void {
    this.#isWriting = false;
    this.#writeText(left + this.#takeQueued());
    const later = this.#later;
    this.#later = [];
    for (const call of later) call();
    this.#onEnd();
  }

  #queue(line: unknown): boolean {
    this.#queued += String(line);
    return true;
  }

  #takeQueued(): string {
    const queued = this.#queued;
    this.#queued = '';
    return queued;
  }

  /** Like the destination, does not wait for a write in progress. */
  #flushSync(): void {
    this.#writeText(this.#takeQueued());
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

/** A pipe may accept a part or nothing; the destination handles that. */
function isFile(fd: unknown): boolean {
  try {
    return typeof fd === 'number' && fstatSync(fd).isFile();
  } catch {
    return false;
  }
}
