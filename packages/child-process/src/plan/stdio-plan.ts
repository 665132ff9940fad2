import { OutputStream } from '../native/output-stream.ts';
import { STDIO } from '../native/wire.ts';

const { IGNORE, PIPE } = STDIO;

/** Never an open descriptor: EBADF. */
const NO_DESCRIPTOR = 0x7fffffff;

/** stdio in the engine's codes. */
export interface StdioPlan {
  /** One code per entry, min three. */
  readonly codes: number[];
  /** The entries as given, if some can only be set up by Node's own code: IPC and streams. */
  readonly mixed: unknown[] | undefined;
}

const PIPES: StdioPlan = { codes: [PIPE, PIPE, PIPE], mixed: undefined };
const shortcuts: Readonly<Record<string, StdioPlan>> = {
  pipe: PIPES,
  overlapped: PIPES,
  ignore: { codes: [IGNORE, IGNORE, IGNORE], mixed: undefined },
  inherit: { codes: [0, 1, 2], mixed: undefined },
};

/** Plans a `stdio` option; returns `undefined` if Node has to decide. */
export function planStdio(given: unknown): StdioPlan | undefined {
  if (!given) return PIPES;
  if (typeof given === 'string')
    return Object.hasOwn(shortcuts, given) ? shortcuts[given] : undefined;
  if (!Array.isArray(given)) return undefined;
  const codes: number[] = [];
  let isMixed = false;
  for (let index = 0; index < Math.max(given.length, 3); index++) {
    // Node handles gaps in a list in its own way.
    if (index < given.length && !(index in given)) return undefined;
    const code = codeOf(given[index], index);
    if (code === undefined) return undefined;
    isMixed ||= code === MIXED;
    codes.push(code);
  }
  if (given.length < 3) {
    if (!Object.isExtensible(given)) return undefined;
    // Node appends to the caller's list.
    given.push(...Array.from({ length: 3 - given.length }, () => undefined));
  }
  return { codes, mixed: isMixed ? given : undefined };
}

/** Code of an entry whose handle Node makes or knows. */
export const MIXED = -4;

function codeOf(entry: unknown, index: number): number | undefined {
  if (entry === undefined || entry === null) return index < 3 ? PIPE : IGNORE;
  if (typeof entry === 'number') return descriptor(entry);
  if (typeof entry === 'object') {
    const { fd } = entry as { fd?: unknown };
    if (typeof fd === 'number') return fd < 0 ? NO_DESCRIPTOR : descriptor(fd);
    // The stream needs a Node handle before Node reads its descriptor.
    if (entry instanceof OutputStream) entry.adopt();
    return MIXED;
  }
  switch (entry) {
    case 'pipe':
    case 'overlapped':
      return PIPE;
    case 'ignore':
      return IGNORE;
    case 'inherit':
      return index;
    case 'ipc':
      return MIXED;
    default:
      return undefined;
  }
}

function descriptor(fd: number): number {
  if (fd < 0) return PIPE;
  // An invalid descriptor makes Node abort the process.
  return Number.isInteger(fd) ? Math.min(fd, NO_DESCRIPTOR) : NO_DESCRIPTOR;
}

/** Converts codes to Node's entries. */
export function stdioEntries(codes: readonly number[]): object[] {
  return codes.map((code, index) => {
    if (code === IGNORE) return { type: 'ignore' };
    if (code === PIPE) return { type: 'pipe', readable: index === 0, writable: index !== 0 };
    return { type: 'fd', fd: code };
  });
}
