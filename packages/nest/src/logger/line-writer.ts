import { closeSync, fsyncSync, mkdirSync, openSync, write, writeSync } from 'node:fs';
import { dirname } from 'node:path';

import type { LogDestination } from './log-destination.ts';
import { destinationError } from './errors.ts';

const RETRY_MS = 10;
/** A descriptor that accepts nothing for this long is abandoned when the process must exit. */
const STUCK_MS = 2000;

const cell = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes lines to a descriptor: gathered into one string, handed to the kernel asynchronously, one write at a time.
 *
 * `pino.destination({ sync: false, minLength })` flattens and measures its whole tail on every line, and `flushSync()`
 * there overtakes, or loses, the pending write. Here a line costs one string concatenation, and code that ends the
 * process can wait for the write.
 */
export class LineWriter implements LogDestination {
  /** pino writes to the writer itself. */
  readonly stream: this = this;
  readonly #limit: number;
  readonly #timer: NodeJS.Timeout;
  #fd: number;
  #path: string | undefined;
  #pending = '';
  #inFlight: Buffer | undefined;
  #armed = false;
  #direct: boolean;
  #broken = false;
  #waiting: (() => void)[] = [];

  constructor(destination: string | number, limit: number, flushIntervalMs: number) {
    this.#path = typeof destination === 'string' ? destination : undefined;
    this.#fd = typeof destination === 'string' ? open(destination) : destination;
    this.#limit = limit;
    this.#direct = limit === 0;
    this.#timer = setTimeout(() => {
      this.#armed = false;
      this.flush();
    }, flushIntervalMs).unref();
  }

  /** Whether a write handed to the kernel is still pending. */
  get writing(): boolean {
    return this.#inFlight !== undefined;
  }

  /** Takes one line, with its line feed. */
  write(line: string): void {
    if (this.#broken) return;
    this.#pending += line;
    if (this.#direct) {
      if (this.#inFlight === undefined) this.flushSync();
    } else if (this.#pending.length >= this.#limit) this.flush();
    else if (!this.#armed) {
      this.#armed = true;
      this.#timer.refresh();
    }
  }

  /** Starts to write the gathered lines, unless a write is pending. */
  flush(): void {
    if (this.#inFlight !== undefined || this.#pending === '') return;
    const chunk = Buffer.from(this.#pending);
    this.#pending = '';
    this.#start(chunk);
  }

  /** Writes the gathered lines before it returns; the pending write comes first. */
  flushSync(): void {
    // Its thread was handed the bytes earlier and needs a moment, not the event loop.
    if (this.#inFlight !== undefined && this.#pending !== '') Atomics.wait(cell, 0, 0, RETRY_MS);
    if (this.#pending === '' || this.#broken) return;
    let rest = Buffer.from(this.#pending);
    this.#pending = '';
    const reopened = this.#fd === -1 && this.#path !== undefined;
    try {
      if (reopened) this.#fd = open(this.#path as string);
      rest = this.#writeFully(rest);
    } catch (error) {
      rest = rest.subarray(rest.length);
      this.#fail(error);
    } finally {
      if (reopened) this.#close();
    }
    if (rest.length > 0) this.#pending = rest.toString() + this.#pending;
  }

  /** Resolves when everything taken so far has been written. */
  async drain(): Promise<void> {
    while (this.#inFlight !== undefined) {
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    }
    this.flushSync();
  }

  /**
   * Drains, then writes later lines synchronously: an app that has shut down may still log why, with nothing left to
   * flush. A file is closed, and opened again for such lines.
   */
  async close(): Promise<void> {
    this.#direct = true;
    clearTimeout(this.#timer);
    await this.drain();
    if (this.#path !== undefined && this.#fd !== -1) this.#close();
  }

  #start(chunk: Buffer): void {
    this.#inFlight = chunk;
    write(this.#fd, chunk, 0, chunk.length, null, (error, written) => {
      if (error?.code === 'EAGAIN' || error?.code === 'EBUSY') {
        setTimeout(() => this.#start(chunk), RETRY_MS);
        return;
      }
      if (error) this.#fail(error);
      else if (written < chunk.length) return this.#start(chunk.subarray(written));
      this.#inFlight = undefined;
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const resolve of waiting) resolve();
      if (this.#direct) this.flushSync();
      else if (this.#pending.length >= this.#limit) this.flush();
    });
  }

  /** Returns what could not be written. */
  #writeFully(bytes: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
    let waitedMs = 0;
    while (bytes.length > 0 && waitedMs < STUCK_MS) {
      try {
        bytes = bytes.subarray(writeSync(this.#fd, bytes));
        waitedMs = 0;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== 'EAGAIN' && code !== 'EBUSY') throw error;
        Atomics.wait(cell, 0, 0, RETRY_MS);
        waitedMs += RETRY_MS;
      }
    }
    return bytes;
  }

  #fail(error: unknown): void {
    const { code, message } = error as NodeJS.ErrnoException;
    // Nobody reads the pipe any longer, and nobody will.
    if (code === 'EPIPE' || code === 'EBADF') this.#broken = true;
    else process.emitWarning(`Log lines were lost: ${message}`, { code: 'REDLINE_LOG_LINES_LOST' });
  }

  #close(): void {
    const fd = this.#fd;
    this.#fd = -1;
    try {
      fsyncSync(fd);
    } catch {
      // A pipe or a terminal cannot be synced.
    }
    closeSync(fd);
  }
}

function open(path: string): number {
  try {
    mkdirSync(dirname(path), { recursive: true });
    return openSync(path, 'a');
  } catch (cause) {
    throw destinationError(path, cause);
  }
}
