import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync, statSync, utimesSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename } from 'node:path';

/*
 * A journal's folder is called ID~OWNER, and that name is its lock: taking it over means renaming it, which succeeds
 * for one process only. OWNER is `free`, or PID-START-REALM. Within one realm (boot, pid namespace, host) process
 * id and start time show if the owner is alive. On Linux it is the thread's id: a worker that was terminated is gone,
 * although its process is not. A stranger from another container or host counts as alive as long as
 * the time stamp of its folder moves.
 */
export const freeOwner = 'free';

export interface FolderName {
  readonly id: string;
  readonly owner: string;
}

/** Returns undefined for a name that does not belong to a journal. */
export function parseFolderName(name: string): FolderName | undefined {
  const [, id, owner] = /^([0-9a-z-]+)~(free|\d+-\d+-[0-9a-f]+)$/.exec(name) ?? [];
  return id === undefined ? undefined : { id, owner: owner! };
}

/**
 * Returns an id that sorts by time and is unique; job ids begin with it. Where order counts, jobs are read in its order, so
 * it sorts after all of `others`, folders in the same directory, even if the clock was set back in between.
 */
export function makeJournalId(wallMs: number, others: readonly string[] = []): string {
  let ms = Math.max(0, Math.floor(wallMs));
  for (const name of others) ms = Math.max(ms, (Number.parseInt(name, 36) || 0) + 1);
  return `${ms.toString(36).padStart(timeDigits, '0')}-${randomBytes(5).toString('hex')}`;
}

/** Digits of the current time, and until 2059: a clock that starts in 1970 has fewer, which would sort last. */
const timeDigits = 8;

const thisRealm: string = createHash('sha256')
  .update([readOr('/proc/sys/kernel/random/boot_id'), pidNamespace(), hostname()].join('\n'))
  .digest('hex')
  .slice(0, 12);

const thisTask: number = taskId();

const thisStart: number | undefined = startOf(thisTask);

export const thisOwner: string = `${thisTask}-${thisStart ?? 0}-${thisRealm}`;

/** Interval between the signs of life of a folder's owner. */
export const lifeSignEveryMs = 5_000;

/** Returns undefined if this process cannot determine it. */
export function isAlive(owner: string): boolean | undefined {
  if (owner === freeOwner) return false;
  const [pid, start, realm] = owner.split('-') as [string, string, string];
  if (realm !== thisRealm) return undefined;
  if (owner === thisOwner) return true;
  const startNow = startOf(Number(pid));
  if (startNow !== undefined) return startNow === Number(start);
  // Without /proc there is only a process id, which may have been reused: then its journal waits for that process to end.
  return thisStart === undefined ? answersSignals(Number(pid)) : false;
}

/** Changes with every sign of life of the owner. */
export function lifeSign(folder: string): number | undefined {
  return statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
}

export function giveLifeSign(folder: string): void {
  const now = new Date();
  utimesSync(folder, now, now);
}

/* Start time in clock ticks since boot: with the process id, a name that no other process of this boot has. */
function startOf(pid: number): number | undefined {
  const stat = readOr(`/proc/${pid}/stat`);
  // The second field is the program's name in parentheses, which may contain anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A zombie was killed, and its parent has not waited for it yet.
  if (fields.length < 20 || fields[0] === 'Z' || fields[0] === 'X') return undefined;
  return Number(fields[19]);
}

/* `/proc/ID/stat` exists for every thread, and the main thread has the id of the process. */
function taskId(): number {
  try {
    return Number(basename(readlinkSync('/proc/thread-self')));
  } catch {
    return process.pid;
  }
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
