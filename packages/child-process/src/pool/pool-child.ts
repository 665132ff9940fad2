import { EventEmitter } from 'node:events';
import { signalName, validSignal } from '../plan/signals.ts';
import { ChildInput } from './child-input.ts';
import { ChildOutput } from './child-output.ts';
import { type ErrorFacts, type Kind, kind, type SpawnRequest, type Value } from './messages.ts';

/** What a child needs of the worker it runs in. */
export interface ChildHost {
  post(kind: Kind, id: number, value?: Value): void;
  /** The child needs its worker no more. */
  release(child: PoolChild): void;
  /** The process has ended; its output may still be read, or held open by processes of its own. */
  hasExited(child: PoolChild): void;
  /** Whether the child keeps this process alive has changed. */
  refChanged(): void;
}

/**
 * A process that runs in one of the pool's workers, in the shape of node:child_process's ChildProcess.
 * `pid` is undefined until 'spawn', because the answer comes from another process.
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
  /** Its number in the conversation with the worker. */
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

  /** There is no process any more. */
  get isOver(): boolean {
    return this.#hasExited;
  }

  get isRef(): boolean {
    return this.#isRef;
  }

  /** @returns whether there was a process to send it to @throws {TypeError} ERR_UNKNOWN_SIGNAL */
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

  /** For the pool: the child starts in this worker. */
  attach(host: ChildHost): void {
    this.#host = host;
  }

  /** For the pool: the worker reported something. */
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
        this.stdin?.fail(value as ErrorFacts);
        break;
      case kind.exit:
        this.#exit(...(value as [number | null, NodeJS.Signals | null]));
        break;
      case kind.error:
        this.emit('error', rebuildError(value as ErrorFacts));
        break;
      case kind.failed:
        this.#fail(rebuildError(value as ErrorFacts));
        break;
    }
  }

  /** For the pool: the worker is gone, and whatever was not reported by now never will be. */
  abandon(error: Error): void {
    this.cut();
    this.#hasExited = true;
    this.#emitError(error);
    this.#closeWhenDone();
  }

  /** For the pool: nothing more is wanted of the child. Its output closes without 'end': nobody must take it for the whole. */
  cut(): void {
    this.#host = undefined;
    // Without an error, as nobody listens for one there.
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
    // Output nobody looked at must not hold back 'close'.
    for (const stream of [this.stdout, this.stderr]) {
      if (stream?.readableFlowing === null && !stream.readableDidRead) stream.resume();
    }
    this.#closeWhenDone();
  }

  /** There never was a process: 'error' and 'close' without 'exit', as in Node. */
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

  /** An error that is thrown because nobody listens must not interrupt the pool's bookkeeping. */
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

function rebuildError({ message, ...facts }: ErrorFacts): NodeJS.ErrnoException {
  // Bun's wording differs; the facts are the same.
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
