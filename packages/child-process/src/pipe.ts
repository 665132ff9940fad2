import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { Socket } from 'node:net';

/** libuv's pipe, as Node wraps it. */
export interface Pipe {
  readonly fd: number;
  open(fd: number): number;
  close(): void;
}

export type PipeConstructor = new (kind: number) => Pipe;

/** An entry of `stdio` as Node hands it to a handle's `spawn`. */
export interface StdioEntry {
  readonly type: string;
  readonly ipc?: boolean;
  readonly handle?: Pipe;
}

const SOCKET = 0;

/** Gets hold of Node's own Pipe class: a spawn that its handle refuses has made one by then. */
export function findPipe(Child: typeof ChildProcess): PipeConstructor | undefined {
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
    // The refusal.
  }
  return found;
}

/** What Node's `ChildProcess.prototype.spawn` hands its handle: one object on Node 22, each option by itself on 24. */
export function handedOver(given: unknown[]): { envPairs: string[]; stdio: StdioEntry[] } {
  if (typeof given[0] === 'object') return given[0] as { envPairs: string[]; stdio: StdioEntry[] };
  return { envPairs: given[3] as string[], stdio: given[4] as StdioEntry[] };
}

/** A connected pipe over a descriptor, which it owns from now on. */
export function openPipe(Pipe: PipeConstructor, fd: number): Pipe {
  const pipe = new Pipe(SOCKET);
  pipe.open(fd);
  return pipe;
}

/** What a pipe of an ended child looks like to those who have not looked at it before. */
export function closedSocket(): Socket {
  const socket = new Socket();
  const { _readableState: state } = socket as unknown as {
    _readableState: { ended: boolean; endEmitted: boolean };
  };
  state.ended = true;
  state.endEmitted = true;
  return socket.destroy();
}
