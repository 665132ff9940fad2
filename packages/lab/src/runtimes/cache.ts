import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { compareVersions, type RuntimeKind, type RuntimeSpec, satisfies } from './spec.ts';

/** A runtime available on this machine. */
export interface Runtime {
  kind: RuntimeKind;
  /** e.g. `10.24.1` */
  version: string;
  /** Absolute path of the executable. */
  file: string;
}

/** Stored next to each executable: its state when npm had verified it. */
export interface Receipt {
  version: string;
  /** Path of the executable, relative to the runtime's folder. */
  program: string;
  /** Integrity of the tarball, as promised by the registry and checked by npm. */
  integrity: string;
  bytes: number;
  /** Hash of the executable, hex. */
  sha256: string;
}

export const receiptName = 'redline-runtime.json';

/** Returns `REDLINE_CACHE`, or `redline` in the user's cache folder. */
export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const own = environment['REDLINE_CACHE'];
  if (own) return join(own, 'runtimes');
  return join(environment['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'redline', 'runtimes');
}

/** Returns the newest cached runtime that satisfies the range. Skips one that was modified since it was fetched. */
export async function findCached(
  { kind, range }: RuntimeSpec,
  folder: string = cacheFolder(),
): Promise<Runtime | undefined> {
  const names = await readdir(folder).catch(() => [] as string[]);
  const versions = names
    .filter((name) => name.startsWith(`${kind}-`))
    .map((name) => name.slice(kind.length + 1))
    .filter((version) => satisfies(version, range))
    .toSorted(compareVersions)
    .toReversed();
  for (const version of versions) {
    const home = join(folder, `${kind}-${version}`);
    const receipt = await readReceipt(home);
    if (receipt !== undefined && (await isUnchanged(home, receipt))) {
      return { kind, version, file: join(home, receipt.program) };
    }
  }
  return undefined;
}

async function readReceipt(home: string): Promise<Receipt | undefined> {
  try {
    return JSON.parse(await readFile(join(home, receiptName), 'utf8')) as Receipt;
  } catch {
    return undefined;
  }
}

async function isUnchanged(home: string, { program, bytes, sha256 }: Receipt): Promise<boolean> {
  const file = join(home, program);
  const size = await stat(file).then(
    (stats) => stats.size,
    () => -1,
  );
  return size === bytes && (await sha256Of(file)) === sha256;
}

export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
