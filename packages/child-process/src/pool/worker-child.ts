import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { nodeChildProcess } from '../node/node-child-process.ts';
import {
  serializeError,
  type Kind,
  kind,
  type Post,
  type SpawnRequest,
  type Value,
  windowBytes,
} from './messages.ts';

/** Runs in the worker: one child, and the pool's requests for it. */
export class WorkerChild {
  readonly #id: number;
  readonly #post: Post;
  readonly #onDone: () => void;
  #child: ChildProcess | undefined;
  #stdoutCredit: ((bytes: number) => void) | undefined;
  #stderrCredit: ((bytes: number) => void) | undefined;

  constructor(id: number, request: SpawnRequest, post: Post, onDone: () => void) {
    this.#id = id;
    this.#post = post;
    this.#onDone = onDone;
    try {
      this.#start(nodeChildProcess.spawn(request.file, request.args, request.options));
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  receive(messageKind: Kind, value: Value): void {
    const child = this.#child;
    if (child === undefined) return;
    switch (messageKind) {
      case kind.kill:
        child.kill(value as NodeJS.Signals | 0);
        break;
      case kind.stdin:
        this.#write(value as Uint8Array);
        break;
      case kind.stdinEnd:
        child.stdin?.end();
        break;
      case kind.stdinDestroy:
        child.stdin?.destroy();
        break;
      case kind.stdoutCredit:
        this.#stdoutCredit?.(value as number);
        break;
      case kind.stderrCredit:
        this.#stderrCredit?.(value as number);
        break;
      case kind.stdoutDestroy:
        child.stdout?.destroy();
        break;
      case kind.stderrDestroy:
        child.stderr?.destroy();
        break;
    }
  }

  #start(child: ChildProcess): void {
    const [id, post] = [this.#id, this.#post];
    child.on('error', (error) => {
      if (child.pid === undefined) this.#fail(error);
      else post(kind.error, id, serializeError(error));
    });
    if (child.pid === undefined) return;
    this.#child = child;
    post(kind.spawned, id, child.pid);
    child.on('exit', (code, signal) => post(kind.exit, id, [code, signal]));
    child.on('close', this.#onDone);
    this.#stdoutCredit = this.#forward(child.stdout, kind.stdout, kind.stdoutEnd);
    this.#stderrCredit = this.#forward(child.stderr, kind.stderr, kind.stderrEnd);
    child.stdin?.on('error', (error) => post(kind.stdinError, id, serializeError(error)));
  }

  #fail(error: Error): void {
    this.#post(kind.failed, this.#id, serializeError(error));
    // Deferred: the constructor may still be running, and this child is not registered yet.
    process.nextTick(this.#onDone);
  }

  /** Reads only as much as the pool has room for. @returns a function that reports more room */
  #forward(
    output: Readable | null,
    chunkKind: Kind,
    endKind: Kind,
  ): ((bytes: number) => void) | undefined {
    if (output === null) return undefined;
    let room = windowBytes;
    output.on('data', (chunk: Buffer) => {
      room -= chunk.length;
      this.#post(chunkKind, this.#id, chunk);
      if (room <= 0) output.pause();
    });
    output.on('error', () => {});
    output.on('close', () => this.#post(endKind, this.#id));
    return (bytes) => {
      room += bytes;
      if (room > 0 && output.isPaused()) output.resume();
    };
  }

  #write(chunk: Uint8Array): void {
    const stdin = this.#child?.stdin;
    if (!stdin || stdin.destroyed) return;
    stdin.write(chunk, (error) => {
      if (!error) this.#post(kind.stdinCredit, this.#id, chunk.length);
    });
  }
}
