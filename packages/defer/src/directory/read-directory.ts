import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  FileDeadLetters,
  type ReadLetters,
  type UnreadableLetter,
} from '../journal/dead-letters.ts';
import { nodeFs } from '../journal/journal-fs.ts';
import type { JobRecord } from '../journal/job-record.ts';
import { freeOwner, isAlive, parseFolderName } from '../journal/owner.ts';
import type { KeyRing } from '../seal/key-ring.ts';
import { recoverJournal, type Damage } from '../journal/recover.ts';
import { jobStates } from '../journal/segment.ts';
import type { JobFailure } from '../job/job-counts.ts';
import type { JobStats } from '../sink-queue/queue-counts.ts';

/** `'delayed'`: it waits for its time to run. */
export type ListedState = 'waiting' | 'delayed' | 'sent' | 'dead';

export interface ListedJob {
  readonly state: ListedState;
  readonly record: JobRecord;
  /** The journal's id; `dead` for dead letters. */
  readonly journal: string;
  readonly reason: string | undefined;
  /** Set for a dead letter. */
  readonly diedAtMs?: number;
  readonly sealedWith?: string;
  /** Failed attempts of a waiting job. */
  readonly failures: number;
}

export interface ListedJournal {
  readonly id: string;
  readonly owner: 'running' | 'free' | 'gone' | 'elsewhere';
  readonly bytes: number;
  /** The ids of the keys that its files are sealed with. */
  readonly keys: readonly string[];
  readonly damages: readonly Damage[];
}

export interface Listing {
  readonly journals: readonly ListedJournal[];
  readonly jobs: readonly ListedJob[];
  readonly unreadable: readonly UnreadableLetter[];
}

/**
 * Reads a journal directory without changing it, even while its processes run.
 * @throws {DeferError} ERR_REDLINE_DEFER_JOURNAL, ERR_REDLINE_DEFER_JOURNAL_VERSION, _SEAL
 */
export async function readDirectory(
  directory: string,
  keys: KeyRing | undefined,
): Promise<Listing> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await look(directory, keys);
    } catch (error) {
      // The app has renamed a folder or removed a segment meanwhile.
      if (attempt === maxAttempts || !isGone(error) || !existsSync(directory)) throw error;
    }
  }
}

const maxAttempts = 10;

function isGone(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: unknown };
  return code === 'ENOENT' || (cause !== undefined && isGone(cause));
}

async function look(directory: string, keys: KeyRing | undefined): Promise<Listing> {
  const journals: ListedJournal[] = [];
  const jobs: ListedJob[] = [];
  for (const name of readdirSync(directory).sort()) {
    const parsed = parseFolderName(name);
    if (parsed === undefined) continue;
    const folder = join(directory, name);
    const { id, owner } = parsed;
    const records = new Map<number, JobRecord>();
    const names = readdirSync(folder);
    const journal = { fs: nodeFs, id, folder, names, keys };
    const { segments, damages, tries } = await recoverJournal(journal, 0, (number, record) => {
      records.set(number, record);
    });
    for (const segment of segments) {
      for (let at = 0; at < segment.length; at++) {
        const number = segment.firstJob + at;
        const state = segment.stateOf(number);
        if (state !== jobStates.waiting && state !== jobStates.sent) continue;
        const record = records.get(number)!;
        const isDelayed = (record.runAtMs ?? 0) > Date.now();
        jobs.push({
          state: state === jobStates.sent ? 'sent' : isDelayed ? 'delayed' : 'waiting',
          record,
          journal: id,
          reason: undefined,
          failures: tries.failed(number),
        });
      }
    }
    journals.push({
      id,
      owner: ownerOf(owner),
      bytes: bytesOf(folder, names),
      keys: [...new Set(segments.flatMap(({ sealing }) => sealing?.keyId ?? []))],
      damages,
    });
  }
  const { letters, unreadable } = await readDeadLetters(directory, keys);
  for (const letter of letters) {
    jobs.push({ state: 'dead', journal: 'dead', failures: 0, ...letter });
  }
  return { journals, jobs, unreadable };
}

async function readDeadLetters(directory: string, keys: KeyRing | undefined): Promise<ReadLetters> {
  try {
    return await new FileDeadLetters(join(directory, 'dead'), 0, keys).read();
  } catch {
    return { letters: [], unreadable: [] }; // The folder does not exist yet.
  }
}

function ownerOf(owner: string): ListedJournal['owner'] {
  if (owner === freeOwner) return 'free';
  const alive = isAlive(owner);
  if (alive === undefined) return 'elsewhere';
  return alive ? 'running' : 'gone';
}

function bytesOf(folder: string, names: readonly string[]): number {
  let bytes = 0;
  for (const name of names) {
    bytes += statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}

export interface ListedName extends JobStats {
  readonly sink: string;
}

/** Returns the jobs of a directory by sink and name. Attempts of finished jobs have left no trace in it. */
export function jobsByName(jobs: readonly ListedJob[]): ListedName[] {
  const kinds = Map.groupBy(jobs, ({ record }) => `${record.sink}\n${record.job}`);
  return [...kinds.values()].map((kind) => {
    const { sink, job } = kind[0]!.record;
    const waiting = kind.filter(({ state }) => state === 'waiting');
    const dead = kind.filter(({ state }) => state === 'dead');
    const failures =
      sumOf(waiting.map(({ failures: tries }) => tries)) +
      sumOf(dead.map(({ record }) => record.attempt));
    return {
      sink,
      job,
      depth: waiting.length,
      oldestAtMs: minOf(waiting.map(({ record }) => record.deferredAtMs)),
      attempts: failures,
      failures,
      dead: dead.length,
      lastFailure: lastOf(dead),
    };
  });
}

function lastOf(dead: readonly ListedJob[]): JobFailure | undefined {
  let last: JobFailure | undefined;
  for (const { reason = '', diedAtMs: atMs = 0 } of dead) {
    if (last !== undefined && last.atMs > atMs) continue;
    last = { message: reason.split('\n', 1)[0]!, atMs };
  }
  return last;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function minOf(values: readonly number[]): number | undefined {
  return values.reduce<number | undefined>(
    (min, value) => (min === undefined ? value : Math.min(min, value)),
    undefined,
  );
}
