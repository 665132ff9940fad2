import { EventEmitter } from 'node:events';
import { signalName, validSignal } from '../plan/signals.ts';
import { ChildInput, ChildOutput } from './child-streams.ts';
import {
  type Kind,
  kind,
  type SerializedError,
  type SpawnRequest,
  type Value,
} from './messages.ts';

/** The worker of a child, as far as the child uses it. */
export interface ChildHost {
  post(kind: Kind, id: number, value?: Value): void;
  /** Called when the child no longer needs its worker. */
  release(child: PoolChild): void;
  /** The process has ended; its output may still be read, or held open by its own child processes. */
  hasExited(child: PoolChild): void;
  /** Called when `isRef` of a child changes. */
  refChanged(): void;
}

/**
 * A process that runs in one of the pool's workers, in the shape of node:child_process's ChildProcess. `pid` is undefined
 * until 'spawn', because it comes from another process.
 */
export class PoolChild extends EventEmitter {
  readonly stdin: ChildInput | null;
  readonly stdout: ChildOutput | null;
  readonly stderr: ChildOutput | null;
  readonly stdio: [ChildInput | null, ChildOutput | null, ChildOutput | null, undefined, undefined];
  readonly spawnfile: string;
  readonly spawnargs: string[];
  readonly connected: boolean = false;
  readonly channel: undefined = undefined;
  pid: number | undefined;
  exitCode: number | null = null;
  signalCode: NodeJS.Signals | null = null;
  killed = false;
  /** The child's number in messages. */
  readonly id: number;
  #host: ChildHost | undefined;
  #isRef = true;
  #hasExited = false;
  #openStreams = 0;
  #isClosed = false;

  constructor(id: number, request: SpawnRequest) {
    super();
    this.id = id;
    this.spawnfile = request.file;
    this.spawnargs = [request.options.argv0 ?? request.file, ...request.args];
    const [stdin, stdout, stderr] = request.options.stdio;
    this.stdin =
      stdin === 'pipe'
        ? new ChildInput({
            write: (chunk) => this.#post(kind.stdin, chunk),
            end: () => this.#post(kind.stdinEnd),
            abandon: () => this.#post(kind.stdinDestroy),
          })
        : null;
    this.stdout =
      stdout === 'pipe' ? this.#openOutput(kind.stdoutCredit, kind.stdoutDestroy) : null;
    this.stderr =
      stderr === 'pipe' ? this.#openOutput(kind.stderrCredit, kind.stderrDestroy) : null;
    this.stdio = [this.stdin, this.stdout, this.stderr, undefined, undefined];
  }

  /** True once the process has ended or failed to start. */
  get isOver(): boolean {
    return this.#hasExited;
  }

  get isRef(): boolean {
    return this.#isRef;
  }

  /** @returns true if there was a process to send it to @throws {TypeError} ERR_UNKNOWN_SIGNAL */
  kill(signal: NodeJS.Signals | number = 'SIGTERM'): boolean {
    const name = checkSignal(signal);
    if (this.#host === undefined || this.#hasExited) return false;
    this.#post(kind.kill, name);
    if (name !== 0) this.killed = true;
    return true;
  }

  ref(): void {
    this.#isRef = true;
    this.#host?.refChanged();
  }

  unref(): void {
    this.#isRef = false;
    this.#host?.refChanged();
  }

  [Symbol.dispose](): void {
    if (!this.killed) this.kill();
  }

  /** Called by the pool: the child starts in this worker. */
  attach(host: ChildHost): void {
    this.#host = host;
  }

  /** Called by the pool with a message of the worker. */
  receive(messageKind: Kind, value: Value): void {
    switch (messageKind) {
      case kind.spawned:
        this.pid = value as number;
        this.emit('spawn');
        break;
      case kind.stdout:
        this.stdout?.receive(value as Buffer);
        break;
      case kind.stderr:
        this.stderr?.receive(value as Buffer);
        break;
      case kind.stdoutEnd:
        this.stdout?.finish();
        break;
      case kind.stderrEnd:
        this.stderr?.finish();
        break;
      case kind.stdinCredit:
        this.stdin?.credit(value as number);
        break;
      case kind.stdinError:
        this.stdin?.fail(value as SerializedError);
        break;
      case kind.exit:
        this.#exit(...(value as [number | null, NodeJS.Signals | null]));
        break;
      case kind.error:
        this.emit('error', rebuildError(value as SerializedError));
        break;
      case kind.failed:
        this.#fail(rebuildError(value as SerializedError));
        break;
    }
  }

  /** Called by the pool: the worker is gone, and its remaining events will never arrive. */
  abandon(error: Error): void {
    this.detach();
    this.#hasExited = true;
    this.#emitError(error);
    this.#closeWhenDone();
  }

  /**
   * Called by the pool to drop the child. Its output closes without 'end', so that a reader does not mistake it for
   * complete.
   */
  detach(): void {
    this.#host = undefined;
    // Without an error, because these streams may have no listener for it.
    for (const stream of [this.stdin, this.stdout, this.stderr]) stream?.destroy();
  }

  #openOutput(credit: Kind, destroy: Kind): ChildOutput {
    this.#openStreams++;
    const output = new ChildOutput(
      (bytes) => this.#post(credit, bytes),
      () => this.#post(destroy),
    );
    output.on('close', () => {
      this.#openStreams--;
      this.#closeWhenDone();
    });
    return output;
  }

  #exit(code: number | null, signal: NodeJS.Signals | null): void {
    this.exitCode = code;
    this.signalCode = signal;
    this.#hasExited = true;
    this.stdin?.destroy();
    this.emit('exit', code, signal);
    this.#host?.hasExited(this);
    // Unread output must not hold back 'close'.
    for (const stream of [this.stdout, this.stderr]) {
      if (stream?.readableFlowing === null && !stream.readableDidRead) stream.resume();
    }
    this.#closeWhenDone();
  }

  /** The process never started: 'error' and 'close' without 'exit', as in Node. */
  #fail(error: NodeJS.ErrnoException): void {
    this.exitCode = error.errno ?? -1;
    this.#hasExited = true;
    this.stdin?.destroy();
    for (const stream of [this.stdout, this.stderr]) {
      stream?.finish();
      stream?.resume();
    }
    this.#emitError(error);
    this.#closeWhenDone();
  }

  /** Deferred, because an error without a listener is thrown and must not interrupt the pool's bookkeeping. */
  #emitError(error: Error): void {
    process.nextTick(() => this.emit('error', error));
  }

  #closeWhenDone(): void {
    if (!this.#hasExited || this.#openStreams > 0 || this.#isClosed) return;
    this.#isClosed = true;
    this.#host?.release(this);
    this.#host = undefined;
    process.nextTick(() => this.emit('close', this.exitCode, this.signalCode));
  }

  #post(messageKind: Kind, value?: Value): void {
    this.#host?.post(messageKind, this.id, value);
  }
}

function rebuildError({ message, ...facts }: SerializedError): NodeJS.ErrnoException {
  // Bun words it differently; the other fields are the same.
  const text =
    facts.syscall?.startsWith('spawn') && facts.code ? `${facts.syscall} ${facts.code}` : message;
  return Object.assign(new Error(text), facts);
}

function checkSignal(signal: NodeJS.Signals | number): NodeJS.Signals | 0 {
  if (signal === 0) return 0;
  const number = validSignal(signal);
  if (number !== undefined) return signalName(Number(number))!;
  throw Object.assign(new TypeError(`Unknown signal: ${signal}`), { code: 'ERR_UNKNOWN_SIGNAL' });
}
