// Generated from crates/spawn_node by scripts/build-native.mjs: change it there.

/** @throws Where no addon loads; the message is one clause that says why. */
export declare function loadAddon(): Addon;

export interface Addon {
  readonly hangUp: typeof hangUp;
  readonly isReadable: typeof isReadable;
  readonly realEnvironmentVariable: typeof realEnvironmentVariable;
  readonly reapOrphans: typeof reapOrphans;
  readonly run: typeof run;
  readonly supported: typeof supported;
  readonly Port: typeof Port;
}

/** Ends both directions of a socket: what is left in it can be read, and then it is at its end, whoever holds the other end. */
declare function hangUp(fd: number): void;

/** Whether a read of a descriptor would not block: there are bytes, or it is at its end. */
declare function isReadable(fd: number): boolean;

/**
 * The value of a variable in the process's own environment, whatever `process.env` has been replaced with. `None` also where
 * the environment cannot be read safely.
 */
declare function realEnvironmentVariable(name: string): string | null;

/** Reaps orphans from now on, where they are given to this process: whether they are. A negative number is an error. */
declare function reapOrphans(): number;

/** Runs a process to its end. `timeout_ms` and `max_buffer` are 0 for none. `grace_ms` is as in `Port.end_tree`. The others are as in `Port.spawn`. */
declare function run(file: string, args: string, pairs: string | undefined | null, cwd: string | undefined | null, detached: boolean, uid: number | undefined | null, gid: number | undefined | null, stdio: Array<number>, input: Uint8Array | undefined | null, timeoutMs: number, maxBuffer: number, killSignal: number, extras: number, graceMs: number): Ran;

/** 0 when the engine runs here, otherwise the error number that says why not. */
declare function supported(): number;

/**
 * Starts processes and reports on them through one callback, `onEvent(kind, id, a, b, bytes)`: see `EVENT` in `wire.ts`. One
 * for each environment. `stream` is an index in the child's stdio.
 */
declare class Port {
  /** Opens the environment's port. */
  constructor(onEvent: (kind: number, id: number, a: number, b: number, bytes?: Buffer) => void);
  /**
   * Queues a process and returns its id, a negative error number, or both for one that has failed already but has an id,
   * pipes and a "failed" event: see `SPAWNED`. Strings in `args` and `env` are separated by NULs; no `env` is this
   * process's own. `stdio` has a descriptor or one of `STDIO` per entry, and `extras` bits of `EXTRA`.
   */
  spawn(file: string, args: string, env: string | undefined | null, cwd: string | undefined | null, detached: boolean, uid: number | undefined | null, gid: number | undefined | null, stdio: Array<number>, collectLimit: number, extras: number): number;
  /** Whether the program runs already; if not, asks for the "started" event. */
  announce(id: number): boolean;
  /** Blocks until the program runs: its process id, or a negative error number. */
  waitStarted(id: number): number;
  /** Whether the process has ended, told or not. */
  hasEnded(id: number): boolean;
  /** Signals the process: 0, or a negative error number. */
  kill(id: number, signal: number): number;
  /**
   * Signals a process and its descendants, and kills those that have not ended after `grace_ms`; "tree ended" comes then. 0, or a
   * negative error number: ESRCH when there is nothing to be found, as of one that has ended and was not started as a tree.
   */
  endTree(id: number, startedAsTree: boolean, signal: number, graceMs: number): number;
  /** Reads a stream, 256 KiB from now on. */
  flow(id: number, stream: number): void;
  /** How often the event loop has looked at its descriptors. It counts a look before it looks. */
  looks(): number;
  /**
   * Whether the engine knew the end of the process when the event loop began to look at its descriptors the last time:
   * whatever the process left in them has been seen in this turn, or is about to be.
   */
  endedBeforeLook(id: number): boolean;
  /** Stops collecting a stream. With `isUnseen`, the bytes so far come as a "data" event: the loop has not looked for them. */
  uncollect(id: number, stream: number, isUnseen: boolean): Uncollected;
  /** Gives a stream's descriptor away. */
  take(id: number, stream: number): Taken;
  /** Whether a stream ended without a byte, and nobody has read from it. */
  isAtEnd(id: number, stream: number): boolean;
  /** Whether nobody holds the child's end of a stream any more, whatever is left to be read. */
  hasHungUp(id: number, stream: number): boolean;
  /** Closes a stream. */
  closeStream(id: number, stream: number): void;
  /** After the exit: closes stdin, empties what nobody touched, and says which of those have not ended. */
  drain(id: number): Array<number>;
  /** Blocks until every process asked for here has been started or has failed. */
  flush(): void;
  /** The same for those asked for anywhere in this process, which is about to end. */
  flushAll(): void;
  /** Whether the port keeps the event loop alive. */
  setReferenced(referenced: boolean): void;
}

/** How a process that was waited for ended. */
export interface Ran {
  /** 0 or what went wrong, as a negative number. */
  error: number;
  /** Its id; 0 when it could not be started. */
  pid: number;
  /** The exit code, -1 when a signal ended it or it is not known. */
  code: number;
  /** The signal that ended it, or 0. */
  signal: number;
  /** By descriptor: what came out of each pipe but stdin's. None when it could not be started. */
  outputs?: Array<Buffer | undefined | null>;
  /** What it used, by the places of `FIGURE`, where the request asks for it and it is known. */
  figures?: Array<number>;
}

/** What is left of a stream that is given away. */
export interface Taken {
  /** The descriptor, -1 when the stream has ended. */
  fd: number;
  /** What was read but not seen yet. */
  bytes: Buffer;
}

/** What a stream had collected so far. */
export interface Uncollected {
  /** Whether it has ended. */
  ended: boolean;
  /** The bytes so far. */
  bytes: Buffer;
}

export type { hangUp, isReadable, realEnvironmentVariable, reapOrphans, run, supported, Port };
