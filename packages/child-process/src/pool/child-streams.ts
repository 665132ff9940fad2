import { Readable, Writable } from 'node:stream';
import { windowBytes, type SerializedError } from './messages.ts';

/** Granting every byte would take a message per chunk; meanwhile the rest of the window keeps the worker busy. */
const grantAfterBytes = windowBytes / 4;

/** stdout or stderr of a child in a worker. It grants the worker only the bytes that its reader has taken. */
export class ChildOutput extends Readable {
  #received = 0;
  readonly #grant: (bytes: number) => void;
  readonly #abandon: () => void;

  constructor(grant: (bytes: number) => void, abandon: () => void) {
    super();
    this.#grant = grant;
    this.#abandon = abandon;
  }

  receive(chunk: Buffer): void {
    if (this.destroyed) return;
    this.#received += chunk.length;
    this.push(chunk);
  }

  finish(): void {
    if (!this.destroyed) this.push(null);
  }

  /** Called when there is room again. */
  override _read(): void {
    if (this.#received < grantAfterBytes) return;
    this.#grant(this.#received);
    this.#received = 0;
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.readableEnded) this.#abandon();
    callback(error);
  }
}

export interface InputSink {
  write(chunk: Buffer): void;
  end(): void;
  abandon(): void;
}

/** stdin of a child in a worker. A write completes when the child's pipe has taken it, or while the window has room. */
export class ChildInput extends Writable {
  #underWay = 0;
  #continue: ((error?: Error | null) => void) | undefined;
  readonly #sink: InputSink;

  constructor(sink: InputSink) {
    super({ decodeStrings: true });
    this.#sink = sink;
  }

  credit(bytes: number): void {
    this.#underWay -= bytes;
    if (this.#underWay >= windowBytes) return;
    const proceed = this.#continue;
    this.#continue = undefined;
    proceed?.();
  }

  /** Called when the child closes its end, as `head -1` does. */
  fail({ message, code, errno, syscall }: SerializedError): void {
    this.destroy(Object.assign(new Error(message), { errno, code, syscall }));
  }

  override _write(
    chunk: Buffer,
    _encoding: BufferEncoding,
    callback: (error?: Error | null) => void,
  ): void {
    this.#underWay += chunk.length;
    this.#sink.write(chunk);
    if (this.#underWay < windowBytes) callback();
    else this.#continue = callback;
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#sink.end();
    callback();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#continue = undefined;
    if (!this.writableFinished) this.#sink.abandon();
    callback(error);
  }
}
