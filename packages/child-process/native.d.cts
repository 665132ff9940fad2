// Generated from crates/spawn_node by scripts/build-native.mjs: change it there.

/** @throws Where no addon loads; the message is one clause that says why. */
export declare function loadAddon(): Addon;

export interface Addon {
  readonly hangUp: typeof hangUp;
  readonly interfaceHash: typeof interfaceHash;
  readonly isReadable: typeof isReadable;
  readonly realEnvironmentVariable: typeof realEnvironmentVariable;
  readonly reapOrphans: typeof reapOrphans;
  readonly run: typeof run;
  readonly supported: typeof supported;
  readonly Port: typeof Port;
}

/**
 * Shuts down both directions of a socket: its remaining bytes can be read, and then it is at its end, even if other processes
 * hold the far end.
 */
declare function hangUp(fd: number): void;

/** Identifies what crosses between this addon and JavaScript: `native.cjs` uses no addon with another hash. */
declare function interfaceHash(): string;

/** Returns true if a read of the descriptor would not block: bytes are available, or it is at its end. */
declare function isReadable(fd: number): boolean;

/**
 * Returns a variable of the process's own environment, even if `process.env` has been replaced. `None` also if the environment
 * cannot be read safely.
 */
declare function realEnvironmentVariable(name: string): string | null;

/** Starts reaping orphans if this process adopts them, and returns whether it does. A negative number is an error. */
declare function reapOrphans(): number;

/**
 * Runs a process to its end. `timeout_ms` and `max_buffer` are 0 for no limit. `grace_ms` is as in `Port.end_tree`. The other
 * parameters are as in `Port.spawn`.
 */
declare function run(file: string, args: string, pairs: string | undefined | null, cwd: string | undefined | null, detached: boolean, uid: number | undefined | null, gid: number | undefined | null, stdio: Array<number>, input: Uint8Array | undefined | null, timeoutMs: number, maxBuffer: number, killSignal: number, extras: number, graceMs: number): Ran;

/** Returns 0 if the engine runs here, otherwise the error number that gives the reason. */
declare function supported(): number;

/**
 * Starts processes and reports on them through one callback, `onEvent(kind, id, a, b, bytes)`: see `EVENT` in `wire.ts`. One per
 * environment. `stream` is an index in the child's stdio.
 */
declare class Port {
  /** Opens the environment's port. */
  constructor(onEvent: (kind: number, id: number, a: number, b: number, bytes?: Buffer) => void);
  /**
   * Queues a process and returns its id, a negative error number, or both for a process that has failed already but has an id,
   * pipes and a "failed" event: see `SPAWNED`. Strings in `args` and `env` are separated by NULs; `env` defaults to this
   * process's own. `stdio` has a descriptor or one of `STDIO` per entry, and `extras` bits of `EXTRA`.
   */
  spawn(file: string, args: string, env: string | undefined | null, cwd: string | undefined | null, detached: boolean, uid: number | undefined | null, gid: number | undefined | null, stdio: Array<number>, collectLimit: number, extras: number): number;
  /** Returns true if the program runs already; otherwise requests the "started" event. */
  announce(id: number): boolean;
  /** Blocks until the program runs and returns its process id, or a negative error number. */
  waitStarted(id: number): number;
  /** Returns true if the process has ended, reported or not. */
  hasEnded(id: number): boolean;
  /** Signals the process. Returns 0, or a negative error number. */
  kill(id: number, signal: number): number;
  /**
   * Signals a process and its descendants, and kills those that have not ended after `grace_ms`; "tree ended" follows. Returns
   * 0, or a negative error number: ESRCH if nothing is found, as for a process that has ended and was not started as a tree.
   */
  endTree(id: number, startedAsTree: boolean, signal: number, graceMs: number): number;
  /** Starts reading a stream, with a window of 256 KiB. */
  flow(id: number, stream: number): void;
  /** The number of times the event loop has looked at its descriptors. A look is counted before it happens. */
  looks(): number;
  /**
   * Returns true if the engine knew the end of the process when the event loop last began to look at its descriptors: all data
   * that the process left in them has been seen in this turn, or is about to be.
   */
  endedBeforeLook(id: number): boolean;
  /** Stops collecting a stream. With `isUnseen`, the bytes so far arrive as a "data" event: the loop has not looked for them. */
  uncollect(id: number, stream: number, isUnseen: boolean): Uncollected;
  /** Hands over a stream's descriptor. */
  take(id: number, stream: number): Taken;
  /** Returns true if a stream ended without a byte, and nothing has been read from it. */
  isAtEnd(id: number, stream: number): boolean;
  /**
   * Returns true if a stream that nothing has been read from ended without a byte, and the event loop has looked at its descriptors
   * since: Node, which reads every output, has seen the end.
   */
  isEndSeen(id: number, stream: number): boolean;
  /** Returns true if no process holds the child's end of a stream any longer, even if bytes remain to be read. */
  hasHungUp(id: number, stream: number): boolean;
  /** Closes a stream. */
  closeStream(id: number, stream: number): void;
  /**
   * After the exit: closes stdin and drains the untouched streams. Returns the number of bytes discarded for each entry of stdio,
   * or -1 for a stream that has not ended.
   */
  drain(id: number): Array<number>;
  /** Keeps what comes out of a drained stream from now on. Returns the number of bytes discarded before. */
  stopDraining(id: number, stream: number): number;
  /** Blocks until every process requested here has started or failed. */
  flush(): void;
  /** Does the same for the processes requested anywhere in this process, which is about to end. */
  flushAll(): void;
  /** Sets whether the port keeps the event loop alive. */
  setReferenced(referenced: boolean): void;
}

/** The outcome of a process run to its end. */
export interface Ran {
  /** 0, or the error number, negated. */
  error: number;
  /** Its id; 0 when it could not be started. */
  pid: number;
  /** The exit code; -1 if a signal ended it or the code is unknown. */
  code: number;
  /** The signal that ended it, or 0. */
  signal: number;
  /** Output of each pipe except stdin, by descriptor. `None` if the process could not be started. */
  outputs?: Array<Buffer | undefined | null>;
  /** Resource usage, indexed by `FIGURE`, if requested and known. */
  figures?: Array<number>;
}

/** The remainder of a stream that is handed over. */
export interface Taken {
  /** The descriptor, -1 when the stream has ended. */
  fd: number;
  /** Bytes read but not delivered yet. */
  bytes: Buffer;
}

/** The collected part of a stream. */
export interface Uncollected {
  /** True if the stream has ended. */
  ended: boolean;
  /** The bytes so far. */
  bytes: Buffer;
}

export type { hangUp, interfaceHash, isReadable, realEnvironmentVariable, reapOrphans, run, supported, Port };
