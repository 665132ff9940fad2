/** @throws What `require` says where the addon does not load. */
export declare function loadAddon(): Addon;

export interface Addon {
  readonly supported: typeof supported;
  readonly realEnvironmentVariable: typeof realEnvironmentVariable;
  readonly run: typeof run;
  readonly isReadable: typeof isReadable;
  readonly Port: typeof Port;
}

/** 0 when the engine runs here, otherwise the error number that says why not. */
declare function supported(): number;

/** A variable of the process's own environment, whatever `process.env` has been replaced with. */
declare function realEnvironmentVariable(name: string): string | null;

/** Whether a read of a descriptor would not block: there are bytes, or it is at its end. */
declare function isReadable(fd: number): boolean;

/** How a process that was waited for ended. */
export interface Ran {
  /** 0 or what went wrong, as a negative number. */
  error: number;
  /** 0 when it could not be started. */
  pid: number;
  /** The exit code, -1 when a signal ended it or it is not known. */
  code: number;
  /** The signal that ended it, or 0. */
  signal: number;
  /** By descriptor: what came out of each pipe but stdin's. */
  outputs?: (Buffer | null | undefined)[] | null;
}

/** Runs a process to its end on this thread; a timeout or limit of 0 is none. */
declare function run(
  file: string,
  args: string,
  env: string | null,
  cwd: string | null,
  detached: boolean,
  uid: number | null,
  gid: number | null,
  stdio: number[],
  input: Uint8Array | undefined,
  timeoutMs: number,
  maxBuffer: number,
  killSignal: number,
): Ran;

/** Starts processes and reports on them; one per environment. `stream` is an index in the child's stdio. */
declare class Port {
  constructor(onEvent: (kind: number, id: number, a: number, b: number, bytes?: Buffer) => void);
  /** The child's id, a negative error number, or -(id * 4096 + error number) for one that has failed already. */
  spawn(
    file: string,
    args: string,
    env: string | null,
    cwd: string | null,
    detached: boolean,
    uid: number | null,
    gid: number | null,
    stdio: number[],
    collectLimit: number,
  ): number;
  /** Whether the program runs already; if not, asks for the "started" event. */
  announce(id: number): boolean;
  /** Blocks until the program runs: its process id, or a negative error number. */
  waitStarted(id: number): number;
  /** Whether the process has ended, told or not. */
  hasEnded(id: number): boolean;
  /** 0, or a negative error number. */
  kill(id: number, signal: number): number;
  /** Whether a stream ended without a byte, and nobody has read from it. */
  isAtEnd(id: number, stream: number): boolean;
  /** Reads a stream, 256 KiB from now on. */
  flow(id: number, stream: number): void;
  uncollect(id: number, stream: number): { ended: boolean; bytes: Buffer };
  take(id: number, stream: number): { fd: number; bytes: Buffer };
  closeStream(id: number, stream: number): void;
  /** After the exit: which of the streams nobody touched have not ended. */
  drain(id: number): number[];
  /** Blocks until every process asked for here has been started or has failed. */
  flush(): void;
  setReferenced(referenced: boolean): void;
}

export type { Port };
