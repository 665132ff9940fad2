import { setImmediate } from '../node/timers.ts';

/** Kinds of messages between the pool and a worker. A message is a kind, the child's number, and a value. */
export const kind = {
  // Pool to worker.
  spawn: 1,
  kill: 2,
  stdin: 3,
  stdinEnd: 4,
  stdinDestroy: 5,
  stdoutCredit: 6,
  stderrCredit: 7,
  stdoutDestroy: 8,
  stderrDestroy: 9,
  // Worker to pool.
  ready: 20,
  spawned: 21,
  failed: 22,
  error: 23,
  stdout: 24,
  stderr: 25,
  stdoutEnd: 26,
  stderrEnd: 27,
  stdinCredit: 28,
  stdinError: 29,
  exit: 30,
} as const;

export type Kind = (typeof kind)[keyof typeof kind];

/** Bytes for `stdin`, `stdout` and `stderr`; a JSON value for all others. */
export type Value = Uint8Array | string | number | object | null | undefined;

export type Message = [kind: Kind, id: number, value?: Value];

export type Post = (kind: Kind, id: number, value?: Value) => void;

/** The value of `spawn`: the arguments for node:child_process in the worker. */
export interface SpawnRequest {
  file: string;
  args: string[];
  options: {
    cwd: string;
    env?: Record<string, string>;
    argv0?: string;
    shell?: boolean | string;
    uid?: number;
    gid?: number;
    detached?: boolean;
    windowsHide?: boolean;
    windowsVerbatimArguments?: boolean;
    stdio: ('pipe' | 'ignore' | 'inherit')[];
  };
}

/** The value of `failed`, `error` and `stdinError`: an Error without its stack, which belongs to the worker. */
export interface SerializedError {
  message: string;
  code?: string;
  errno?: number;
  syscall?: string;
  path?: string;
  spawnargs?: string[];
}

/** Bytes of one stream that may be in transit before its reader takes any: the max cost of a paused reader. */
export const windowBytes: number = 256 * 1024;

export function serializeError(error: NodeJS.ErrnoException): SerializedError {
  const { message, code, errno, syscall, path } = error;
  const { spawnargs } = error as SerializedError;
  return { message, code, errno, syscall, path, spawnargs };
}

/** `advanced` copies bytes unchanged; `json` is the only format that Node and Bun share. */
export type Serialization = 'advanced' | 'json';

export function encodeBatch(batch: Message[], serialization: Serialization): unknown[] {
  if (serialization === 'advanced') return batch;
  return batch.map(([type, id, value]) =>
    value instanceof Uint8Array
      ? [type, id, Buffer.from(value.buffer, value.byteOffset, value.length).toString('base64'), 1]
      : [type, id, value],
  );
}

export function decodeBatch(
  batch: unknown,
  onMessage: (kind: Kind, id: number, value: Value) => void,
): void {
  for (const [type, id, value, isBase64] of batch as [...Required<Message>, isBase64?: 1][]) {
    onMessage(type, id, isBase64 ? Buffer.from(value as string, 'base64') : value);
  }
}

/** Sends the messages of one turn of the event loop together: a short child makes five of them, often in two turns. */
export class Outbox {
  #waiting: Message[] = [];
  readonly #deliver: (batch: Message[]) => void;

  constructor(deliver: (batch: Message[]) => void) {
    this.#deliver = deliver;
  }

  post(type: Kind, id: number, value?: Value): void {
    this.#waiting.push([type, id, value]);
    if (this.#waiting.length === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    this.#deliver(batch);
  }
}
