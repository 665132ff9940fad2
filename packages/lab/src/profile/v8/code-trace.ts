import { open, type FileHandle } from 'node:fs/promises';

/** An exit from optimised code while a profile was taken. */
export interface Bailout {
  type: 'bailout';
  /** Microseconds of the system's monotonic clock, late by some hundredths of a second at most. */
  micros: number;
  /** An address within the code that was left. */
  address: number;
  kind: string;
  reason: string;
}

const pollMs = 20;

/**
 * Follows the file that V8 writes its bailouts to (`--log-deopt --redirect-code-traces-to`, Node 16 and newer) and notes the time
 * of each: V8 gives none, and its log, which does, is silent while a profile is taken.
 */
export class CodeTrace {
  readonly bailouts: Bailout[] = [];
  readonly #file: string;
  readonly #buffer: Buffer = Buffer.alloc(2 ** 16);
  #handle: FileHandle | undefined;
  #rest = '';
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    }, pollMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reading;
    await this.#read();
    await this.#handle?.close();
  }

  async #read(): Promise<void> {
    // The file is missing before the first bailout.
    this.#handle ??= await open(this.#file).catch(() => undefined);
    if (this.#handle === undefined) return;
    for (;;) {
      const { bytesRead } = await this.#handle.read(this.#buffer);
      if (bytesRead === 0) return;
      const lines = (this.#rest + this.#buffer.toString('latin1', 0, bytesRead)).split('\n');
      this.#rest = lines.pop()!;
      const micros = Number(process.hrtime.bigint() / 1_000n);
      for (const line of lines) {
        const bailout = parseBailout(line, micros);
        if (bailout !== undefined) this.bailouts.push(bailout);
      }
    }
  }
}

/** Parses `[bailout (kind: deopt-eager, reason: wrong map): begin. deoptimizing 0x2de3 <JSFunction get …>, …, pc 0x7f26]`. */
export function parseBailout(line: string, micros: number): Bailout | undefined {
  const found =
    /^\[bailout \(kind: (?:deopt-)?([\w-]+), reason: (.*)\): begin\..* pc 0x([0-9a-f]+)/.exec(line);
  if (found === null) return undefined;
  const [, kind, reason, address] = found;
  return {
    type: 'bailout',
    micros,
    address: Number.parseInt(address!, 16),
    kind: kind!,
    reason: reason!,
  };
}
