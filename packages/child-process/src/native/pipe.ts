import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { binding, isSpawnPatched } from '../node/patched.ts';

/** Node's wrapper of a libuv pipe. */
export interface Pipe {
  readonly fd: number;
  open(fd: number): number;
  /** Called by libuv with each piece that it has read, and without one at the end or for an error. */
  onread: (this: unknown, bytes?: ArrayBuffer) => unknown;
  /** Sends the end after pending writes. Returns 0 or a negative errno. */
  shutdown(request: { oncomplete(errno: number): void }): number;
  close(onClosed?: () => void): void;
}

export type PipeConstructor = new (kind: number) => Pipe;

/** An entry of `stdio`, as passed by Node to a handle's `spawn`. */
export interface StdioEntry {
  readonly type: string;
  readonly ipc?: boolean;
  readonly fd?: number;
  readonly handle?: Pipe;
}

const SOCKET = 0;

/** Finds Node's own Pipe class: a spawn refused by the handle has created one by then. */
export function findPipe(Child: typeof ChildProcess): PipeConstructor | undefined {
  // Code that wraps spawns must not see this one.
  if (isSpawnPatched())
    return (binding('pipe_wrap') as { Pipe?: PipeConstructor } | undefined)?.Pipe;
  let found: PipeConstructor | undefined;
  const refusing = {
    spawn(...given: unknown[]): number {
      found = handedOver(given).stdio[0]?.handle?.constructor as PipeConstructor | undefined;
      return -constants.errno.EINVAL;
    },
    close() {},
  };
  const probe = Object.assign(Object.create(Child.prototype), { _handle: refusing });
  try {
    probe.spawn({ file: 'none', stdio: ['pipe', 'ignore', 'ignore'] });
  } catch {
    // Node throws the refusal.
  }
  return found;
}

/** The arguments that Node's `ChildProcess.prototype.spawn` passes to its handle. */
export interface HandedOver {
  readonly file: string;
  readonly args?: string[];
  readonly cwd?: string;
  readonly envPairs?: string[];
  readonly stdio: StdioEntry[];
  readonly detached?: boolean;
  readonly uid?: number;
  readonly gid?: number;
}

/** The flag of a detached child (`kProcessFlagDetached`). */
const DETACHED = 1;

/** Normalises the arguments: one object on Node 22, separate ones on 24. */
export function handedOver(given: unknown[]): HandedOver {
  if (typeof given[0] === 'object') return given[0] as HandedOver;
  const [file, args, cwd, envPairs, stdio, flags, uid, gid] = given as [
    string,
    string[]?,
    string?,
    string[]?,
    StdioEntry[]?,
    number?,
    number?,
    number?,
  ];
  const detached = ((flags ?? 0) & DETACHED) !== 0;
  return { file, args, cwd, envPairs, stdio: stdio!, detached, uid, gid };
}

/** Opens a connected pipe over a descriptor, and takes ownership of it. */
export function openPipe(Pipe: PipeConstructor, fd: number): Pipe {
  const pipe = new Pipe(SOCKET);
  pipe.open(fd);
  return pipe;
}

/** Calls back when libuv closes handles, in order with the other handles being closed. */
export function closeInTurn(Pipe: PipeConstructor, onClosed: () => void): void {
  new Pipe(SOCKET).close(onClosed);
}
