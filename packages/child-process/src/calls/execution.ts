import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { getSystemErrorName } from 'node:util';
import type { ChildPipes, Collection } from '../child/child-pipes.ts';
import { EXTRA } from '../native/wire.ts';
import type { Extras } from '../plan/extras.ts';
import { treeOf, type Tree } from './kill-tree.ts';
import { maxBufferError } from '../errors.ts';
import type { NativeChild } from '../child/native-child.ts';
import type { Collecting } from '../child/submit.ts';
import { clearTimeout, setTimeout } from '../node/timers.ts';

export type ExecCallback = (
  error: Error | null,
  stdout: string | Buffer,
  stderr: string | Buffer,
) => void;

export interface ExecLimits {
  /** `null`: the output is a Buffer. */
  readonly encoding: BufferEncoding | null;
  readonly timeoutMs: number;
  readonly maxBuffer: number;
  readonly killSignal: NodeJS.Signals | number | undefined;
}

type Chunk = string | Buffer;

const { TREE } = EXTRA;

const STDOUT = 1;
const STDERR = 2;

/** One `execFile` call: Node's own rules, applied to output that mostly arrives in one piece. */
export class Execution implements Collecting, Collection {
  readonly #file: string;
  readonly #args: string[] | null;
  readonly #limits: ExecLimits;
  readonly #callback: ExecCallback | undefined;
  readonly #chunks: Record<number, Chunk[]> = { [STDOUT]: [], [STDERR]: [] };
  readonly #lengths: Record<number, number> = { [STDOUT]: 0, [STDERR]: 0 };
  readonly #streams: Record<number, Socket | undefined> = {};
  #child!: ChildProcess;
  #pipes: ChildPipes | undefined;
  #tree: Tree | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isKilled = false;
  #hasExited = false;
  #error: (Error & { cmd?: string }) | null = null;

  constructor(
    file: string,
    args: string[] | null,
    limits: ExecLimits,
    callback: ExecCallback | undefined,
  ) {
    this.#file = file;
    this.#args = args;
    this.#limits = limits;
    this.#callback = callback;
  }

  get limit(): number {
    return this.#limits.maxBuffer;
  }

  of(_child: NativeChild): Collection {
    return this;
  }

  attachTo(child: ChildProcess, extras: Extras): ChildProcess {
    this.#child = child;
    if ((extras.bits & TREE) !== 0) this.#tree = treeOf(child, extras);
    this.#pipes = (child as unknown as NativeChild)._handle?.pipes;
    if (this.#limits.timeoutMs > 0) {
      this.#timer = setTimeout(() => this.#kill(), this.#limits.timeoutMs);
    }
    child.addListener('close', (code, signal) => this.#onExit(code, signal));
    child.addListener('error', (error) => {
      this.#error = error;
      this.#pipes?.discard();
      this.#onExit();
    });
    return child;
  }

  onCollected(index: number, bytes: Buffer | undefined): void {
    if (bytes === undefined || this.#chunks[index] === undefined) return;
    const { encoding, maxBuffer } = this.#limits;
    const room = maxBuffer - this.#lengths[index]!;
    // The engine may also have read too much of the other output. Node does not read it again after the first exceeded the
    // limit.
    if (bytes.length > room) bytes = bytes.subarray(0, this.#error === null ? room : 0);
    this.#lengths[index]! += bytes.length;
    this.#chunks[index].push(encoding === null ? bytes : bytes.toString(encoding));
  }

  onOverflowed(index: number, bytes: Buffer): void {
    const { encoding } = this.#limits;
    this.#onChunk(index, encoding === null ? bytes : bytes.toString(encoding), encoding);
  }

  attach(index: number, stream: Socket): void {
    const { encoding } = this.#limits;
    this.#streams[index] = stream;
    if (encoding !== null) stream.setEncoding(encoding);
    stream.on('data', (chunk) =>
      this.#onChunk(index, chunk, index === STDOUT ? stream.readableEncoding : encoding),
    );
  }

  #onChunk(index: number, chunk: Chunk, encoding: BufferEncoding | null): void {
    const { maxBuffer } = this.#limits;
    const length =
      typeof chunk === 'string' ? Buffer.byteLength(chunk, encoding ?? undefined) : chunk.length;
    this.#lengths[index]! += length;
    if (this.#lengths[index]! <= maxBuffer) {
      this.#chunks[index]!.push(chunk);
      return;
    }
    const room = maxBuffer - (this.#lengths[index]! - length);
    this.#chunks[index]!.push(chunk.slice(0, room));
    this.#error = maxBufferError(index === STDOUT ? 'stdout' : 'stderr');
    this.#kill();
  }

  #kill(): void {
    this.#isKilled = true;
    let refusal: Error | undefined;
    const kill = (): void => {
      try {
        if (!this.#child.kill(this.#limits.killSignal))
          this.#tree?.endLeft(this.#limits.killSignal);
      } catch (error) {
        refusal = error as Error;
      }
    };
    if (this.#pipes === undefined) kill();
    else this.#pipes.discard(kill);
    if (refusal === undefined) return;
    this.#error = refusal;
    this.#onExit();
  }

  #onExit(code?: number | null, signal?: NodeJS.Signals | null): void {
    if (this.#hasExited) return;
    this.#hasExited = true;
    clearTimeout(this.#timer);
    // Called as a function, without `this`.
    const callback = this.#callback;
    if (callback === undefined || callback === null) return;
    const stdout = this.#output(STDOUT);
    const stderr = this.#output(STDERR);
    if (this.#error === null && code === 0 && signal === null) {
      callback(null, stdout, stderr);
      return;
    }
    const command = [this.#file, ...(this.#args ?? [])].join(' ');
    this.#error ??= Object.assign(new Error(`Command failed: ${command}\n${stderr}`), {
      code: code! < 0 ? getSystemErrorName(code!) : code,
      killed: this.#child.killed || this.#isKilled,
      signal,
    });
    this.#error.cmd = command;
    const { resourceUsage } = this.#child;
    if (resourceUsage !== undefined) Object.assign(this.#error, { resourceUsage });
    callback(this.#error, stdout, stderr);
  }

  #output(index: number): string | Buffer {
    const chunks = this.#chunks[index]!;
    if (this.#limits.encoding !== null || this.#streams[index]?.readableEncoding)
      return chunks.join('');
    return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks as Buffer[]);
  }
}
