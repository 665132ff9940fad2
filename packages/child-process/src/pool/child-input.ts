import { Writable } from 'node:stream';
import { type SerializedError, windowBytes } from './messages.ts';

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
