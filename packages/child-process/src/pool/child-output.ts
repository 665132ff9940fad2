import { Readable } from 'node:stream';
import { windowBytes } from './messages.ts';

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
