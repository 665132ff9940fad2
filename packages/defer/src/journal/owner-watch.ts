import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { isAlive, lifeSign, parseFolderName, thisOwner } from './owner.ts';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { connect, createServer } from 'node:net';

/** Detects journals that have lost their owner: by its process, otherwise by its socket, otherwise by time. */
export class OwnerWatch {
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #strangerTimeoutMs: number;
  readonly #strangers = new Map<string, { sign: number | undefined; sinceMs: number }>();

  constructor(directory: string, clock: Clock, strangerTimeoutMs: number) {
    this.#directory = directory;
    this.#clock = clock;
    this.#strangerTimeoutMs = strangerTimeoutMs;
  }

  /** `folder` is one of `names`, the entries of the directory. */
  async isOrphan(folder: string, names: readonly string[]): Promise<boolean> {
    const { owner } = parseFolderName(folder)!;
    const alive = isAlive(owner) ?? (await isHeld(this.#directory, owner, names));
    return alive === undefined ? this.#showsNoLife(folder) : !alive;
  }

  #showsNoLife(folder: string): boolean {
    const sign = lifeSign(join(this.#directory, folder));
    const now = this.#clock.now();
    const seen = this.#strangers.get(folder);
    if (seen === undefined || seen.sign !== sign) {
      this.#strangers.set(folder, { sign, sinceMs: now });
      return false;
    }
    if (now - seen.sinceMs < this.#strangerTimeoutMs) return false;
    this.#strangers.delete(folder);
    return true;
  }
}

/*
 * Lets the kernel decide if a process of another container is alive: a socket in the directory of the journals, on
 * which the owner listens and which the kernel closes with its thread, however that ends. From then on a connection is
 * refused, in every network and pid namespace of this host. If the directory has no such file, or is on a file system
 * that other hosts may have mounted, only the time without a sign of life is left.
 */

/** File systems of one kernel, by statfs(2): a socket without a listener has no owner on another host. */
const localFileSystems: ReadonlySet<number> = new Set([
  0xef_53, // ext2, ext3, ext4
  0x58_46_53_42, // XFS
  0x91_23_68_3e, // Btrfs
  0x2f_c1_2f_c1, // ZFS
  0xf2_f5_20_10, // F2FS
  0x01_02_19_94, // tmpfs
  0x79_4c_76_30, // overlayfs
]);

/** Maximum path in `struct sockaddr_un`, without the zero at its end. */
const maxPathBytes = 107;

const suffix = '.alive';

/** Listens until the returned function is called, or this thread ends. Without a socket the timeout decides. */
export function holdAliveSocket(directory: string): () => void {
  if (!isLocal(directory)) return () => {};
  const name = `${thisOwner}.${randomBytes(4).toString('hex')}${suffix}`;
  // A connection is only a probe: it is enough that it is accepted.
  const server = createServer((socket) => socket.destroy());
  server.on('error', () => {});
  const reached = reach(directory, name);
  // `exclusive`: a worker of node:cluster would otherwise use a handle of its primary, which outlives it.
  server.listen({ path: reached.path, exclusive: true }).unref();
  return () => {
    server.close();
    reached.release();
    rmSync(join(directory, name), { force: true });
  };
}

/**
 * Returns true if a socket of the owner accepts connections; undefined if no socket decides. `names` are the entries of the
 * directory.
 */
export async function isHeld(
  directory: string,
  owner: string,
  names: readonly string[],
): Promise<boolean | undefined> {
  if (!isLocal(directory)) return undefined;
  let isKnown = false;
  for (const name of names) {
    if (ownerOf(name) !== owner) continue;
    const accepts = await acceptsConnections(directory, name);
    if (accepts === undefined) return undefined;
    if (accepts) return true;
    isKnown = true;
  }
  return isKnown ? false : undefined;
}

/** Removes the sockets of owners that crashed. An owner whose journals are still there is left to its adoption. */
export async function removeDeadSockets(directory: string): Promise<void> {
  const names = isLocal(directory) ? readdirSync(directory) : [];
  const owners = new Set(names.map((name) => parseFolderName(name)?.owner));
  for (const name of names) {
    const owner = ownerOf(name);
    if (owner === undefined || owners.has(owner)) continue;
    if ((await acceptsConnections(directory, name)) !== false) continue;
    rmSync(join(directory, name), { force: true });
  }
}

function ownerOf(name: string): string | undefined {
  return /^(\d+-\d+-[0-9a-f]+)\.[0-9a-f]+\.alive$/.exec(name)?.[1];
}

/* A full backlog belongs to an owner that is suspended. */
function acceptsConnections(directory: string, name: string): Promise<boolean | undefined> {
  const reached = reach(directory, name);
  return new Promise<boolean | undefined>((resolve) => {
    const socket = connect(reached.path, () => resolve(true));
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code === 'EAGAIN' ? true : code === 'ECONNREFUSED' ? false : undefined);
    });
    void socket.on('close', () => resolve(undefined)).unref();
  }).finally(reached.release);
}

/** Returns a path that fits: a long one leads through a descriptor of the directory. */
function reach(directory: string, name: string): { path: string; release(): void } {
  const path = join(directory, name);
  if (Buffer.byteLength(path) <= maxPathBytes) return { path, release() {} };
  const fd = openSync(directory, 'r');
  return { path: `/proc/self/fd/${fd}/${name}`, release: () => closeSync(fd) };
}

function isLocal(directory: string): boolean {
  if (process.platform !== 'linux') return false;
  try {
    return localFileSystems.has(statfsSync(directory).type);
  } catch {
    return false;
  }
}
