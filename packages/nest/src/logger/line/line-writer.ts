import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  write,
  writeSync,
  readdirSync,
  readFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { LineSink, LineSource } from '@redline/http/pino';
import type { LogDestination } from '../flush-on-exit.ts';
import { destinationError } from '../errors.ts';

const RETRY_MS = 10;
/** A descriptor that accepts nothing for this long is abandoned when the process must exit. */
const STUCK_MS = 2000;
/** Max length of a line of the engine. */
const MAX_LINE_BYTES = 64 * 1024;
/** Room for lines that are due, for lines that arrive meanwhile and for lines of JavaScript between them. */
const PAGE_BYTES = 4 * MAX_LINE_BYTES;

/**
 * Writes lines to a descriptor: gathered into one string, handed to the kernel asynchronously, one write at a time.
 *
 * `pino.destination({ sync: false, minLength })` flattens and measures its whole tail on every line, and `flushSync()`
 * there overtakes, or loses, the pending write. Here a line costs one string concatenation, and code that ends the
 * process can wait for the write.
 *
 * Lines of the engine arrive as bytes, and never become a string: they wait in the engine until they are due, or until a
 * line of JavaScript has to follow them. Then both are gathered on a page.
 */
export class LineWriter implements LogDestination, LineSink {
  /** pino writes to the writer itself. */
  readonly stream: this = this;
  readonly lines: this = this;
  readonly dueBytes: number;
  readonly #limit: number;
  readonly #timer: NodeJS.Timeout;
  readonly #sources = new Set<LineSource>();
  #fd: number;
  #path: string | undefined;
  /** Gathered lines that precede `#pending`: the first `#used` bytes of the page. */
  #page: Buffer | undefined;
  #used = 0;
  #sparePage: Buffer | undefined;
  #pending = '';
  #inFlight: Buffer | undefined;
  #armed = false;
  #areDue = false;
  #direct: boolean;
  #broken = false;
  #waiting: (() => void)[] = [];

  constructor(destination: string | number, limit: number, flushIntervalMs: number) {
    this.#path = typeof destination === 'string' ? destination : undefined;
    this.#fd = typeof destination === 'string' ? open(destination) : destination;
    this.#limit = limit;
    this.dueBytes = Math.min(limit, MAX_LINE_BYTES);
    this.#direct = limit === 0;
    this.#timer = setTimeout(() => {
      this.#armed = false;
      this.flush();
    }, flushIntervalMs).unref();
  }

  /** True if a write handed to the kernel is still pending. */
  get writing(): boolean {
    return this.#inFlight !== undefined;
  }

  /** Takes one line, with its line feed. */
  write(line: string): void {
    if (this.#broken) return;
    if (this.#sources.size > 0) this.#takeLines();
    this.#pending += line;
    this.#proceed();
  }

  attach(source: LineSource): void {
    this.#sources.add(source);
  }

  linesWait(areDue: boolean): void {
    this.#areDue ||= areDue;
    this.#proceed();
  }

  /** Starts to write the gathered lines, unless a write is pending. */
  flush(): void {
    if (this.#inFlight !== undefined) return;
    this.#areDue = false;
    this.#takeLines();
    if (this.#broken) return;
    const chunk = this.#collect();
    if (chunk !== undefined) this.#start(chunk);
  }

  /** Writes the gathered lines before it returns; the pending write comes first. */
  flushSync(): void {
    this.#areDue = false;
    this.#takeLines();
    // Its thread was handed the bytes earlier and needs time, not the event loop.
    if (this.#inFlight !== undefined && this.#gathered > 0) awaitWrite(this.#fd, STUCK_MS);
    if (this.#gathered === 0 || this.#broken) return;
    const reopened = this.#fd === -1 && this.#path !== undefined;
    try {
      if (reopened) this.#fd = open(this.#path as string);
      this.#writeAllNow();
    } catch (error) {
      this.#fail(error);
    } finally {
      if (reopened) this.#close();
    }
  }

  /** Same as `flushSync`, and the last one: the engine then sends no more responses of its own that have a line. */
  end(): void {
    for (const source of this.#sources) source.hold();
    this.flushSync();
  }

  /** Resolves when everything taken so far has been written. */
  async drain(): Promise<void> {
    while (this.#inFlight !== undefined) {
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    }
    this.flushSync();
  }

  /**
   * Drains, then writes later lines synchronously: an app that has shut down may still log why, and nothing flushes these
   * lines later. A file is closed, and opened again for them.
   */
  async close(): Promise<void> {
    this.#direct = true;
    clearTimeout(this.#timer);
    await this.drain();
    if (this.#path !== undefined && this.#fd !== -1) this.#close();
  }

  get #gathered(): number {
    return this.#used + this.#pending.length;
  }

  /** Writes or schedules lines that are gathered, or wait in the engine. */
  #proceed(): void {
    if (this.#broken) this.#takeLines();
    else if (this.#direct) {
      if (this.#inFlight === undefined) this.flushSync();
    } else if (this.#areDue || this.#gathered >= this.#limit) this.flush();
    else if (!this.#armed) {
      this.#armed = true;
      this.#timer.refresh();
    }
  }

  /** Gathers the lines that wait in the engine, as far as there is room: while the descriptor is stuck, the rest stays there. */
  #takeLines(): void {
    for (const source of this.#sources) {
      while (source.waits) {
        const page = this.#pageWithRoom();
        if (page === undefined) {
          this.#areDue = true;
          return;
        }
        const taken = source.take(page, this.#used);
        if (taken === 0) break;
        // The lines will not be read, but the engine continues to respond.
        if (!this.#broken) this.#used += taken;
      }
      if (source.isOver) this.#sources.delete(source);
    }
  }

  /** Returns the page with all gathered lines on it; undefined if it has no room for a further line. */
  #pageWithRoom(): Buffer | undefined {
    const page = (this.#page ??= Buffer.allocUnsafeSlow(PAGE_BYTES));
    // A character of a string takes up to three bytes of UTF-8.
    if (this.#pending !== '' && this.#pending.length * 3 <= page.length - this.#used) {
      this.#used += page.write(this.#pending, this.#used);
      this.#pending = '';
    }
    const room = page.length - this.#used;
    return this.#pending === '' && room >= MAX_LINE_BYTES ? page : undefined;
  }

  /** Returns all gathered lines, or as many as fit on the page: the rest is for the next write. */
  #collect(): Buffer | undefined {
    if (this.#used === 0) {
      if (this.#pending === '') return undefined;
      const chunk = Buffer.from(this.#pending);
      this.#pending = '';
      return chunk;
    }
    this.#pageWithRoom();
    const chunk = this.#page!.subarray(0, this.#used);
    // The page is being written: lines are gathered on the other one.
    this.#page = this.#sparePage;
    this.#sparePage = undefined;
    this.#used = 0;
    return chunk;
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
      this.#keepPage(chunk);
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const resolve of waiting) resolve();
      // Includes lines that the timer found during the write.
      if (this.#areDue || this.#gathered > 0) this.#proceed();
    });
  }

  /** Writes until everything is written, or the descriptor is stuck. */
  #writeAllNow(): void {
    for (;;) {
      const chunk = this.#collect();
      if (chunk === undefined) return;
      const rest = this.#writeFully(chunk);
      if (rest.length > 0) {
        this.#pending = rest.toString() + this.#pending;
        return;
      }
      this.#keepPage(chunk);
      this.#takeLines();
    }
  }

  /** Returns the bytes that could not be written. */
  #writeFully(bytes: Buffer): Buffer {
    let waitedMs = 0;
    while (bytes.length > 0 && waitedMs < STUCK_MS) {
      try {
        bytes = bytes.subarray(writeSync(this.#fd, bytes));
        waitedMs = 0;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== 'EAGAIN' && code !== 'EBUSY') throw error;
        pause(RETRY_MS);
        waitedMs += RETRY_MS;
      }
    }
    return bytes;
  }

  /** Keeps a written page, to gather lines on it again. */
  #keepPage({ buffer }: Buffer): void {
    if (buffer.byteLength === PAGE_BYTES) this.#sparePage ??= Buffer.from(buffer as ArrayBuffer);
  }

  #fail(error: unknown): void {
    const { code, message } = error as NodeJS.ErrnoException;
    // The pipe has no reader any longer, and will not get one.
    if (code === 'EPIPE' || code === 'EBADF') this.#giveUp();
    else process.emitWarning(`Log lines were lost: ${message}`, { code: 'REDLINE_LOG_LINES_LOST' });
  }

  /** Drops all lines: a full page would hold back the engine's lines, and keep the engine from responding. */
  #giveUp(): void {
    this.#broken = true;
    this.#used = 0;
    this.#pending = '';
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

const LOOK_MS = 10;
/** Max number of looks in a row at threads that may be writing, or doing something else. */
const MAX_DOUBTS = 10;
const TASKS = '/proc/self/task';

const cell = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the thread for `ms` milliseconds. */
export function pause(ms: number): void {
  Atomics.wait(cell, 0, 0, ms);
}

/**
 * Blocks until no other thread of the process writes to the descriptor, up to `maxMs` milliseconds.
 *
 * Node reports the end of a write in the event loop, which no longer turns once the process exits. Bytes written before the end
 * mix with the rest of the write if the reader is slower than that. Linux shows the current system call of each thread; on other
 * systems the thread gets a moment.
 */
export function awaitWrite(fd: number, maxMs: number): void {
  let doubts = 0;
  for (let waitedMs = 0; waitedMs < maxMs; waitedMs += LOOK_MS) {
    pause(LOOK_MS);
    const seen = lookAtThreads(fd);
    if (seen === 'elsewhere') return;
    doubts = seen === 'running' ? doubts + 1 : 0;
    if (doubts === MAX_DOUBTS) return;
  }
}

function lookAtThreads(fd: number): 'writing' | 'running' | 'elsewhere' {
  let seen: 'running' | 'elsewhere' = 'elsewhere';
  try {
    for (const thread of readdirSync(TASKS)) {
      // `running`, or the number of the call and its arguments. This thread is reading that file.
      const [call, first] = readFileSync(`${TASKS}/${thread}/syscall`, 'latin1').trim().split(' ');
      if (call === 'running') seen = 'running';
      else if (call !== '-1' && Number(first) === fd) return 'writing';
    }
  } catch {
    // Another system, a kernel without the file, or a thread that has ended.
  }
  return seen;
}
