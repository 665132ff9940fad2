import type { JobStats } from '../sink-queue/queue-counts.ts';
import type { SinkStats } from '../sink-queue/sink-stats.ts';
import {
  type ListedJournal,
  jobsByName,
  readDirectory,
  type ListedState,
  type Listing,
} from '../directory/read-directory.ts';
import {
  type DeadLetter,
  type UnreadableLetter,
  FileDeadLetters,
  type ReadLetters,
} from '../journal/dead-letters.ts';
import { join } from 'node:path';
import type { KeyRing } from '../seal/key-ring.ts';
import { requeue } from '../directory/requeue.ts';

/** Data and actions of a page. */
export interface PageSource {
  /** Shown at the top: the origin of the data. */
  readonly title: string;
  read(): Promise<Snapshot>;
  /** Requeues dead letters. Returns their number. */
  requeue(which: Which): Promise<number>;
  /** Deletes dead letters for good. Returns their number. */
  remove(which: Which): Promise<number>;
}

/** One letter, or all of one kind of job. */
export type Which = { readonly id: string } | { readonly job: string; readonly sink: string };

export interface Snapshot {
  /** Undefined for a directory, which has no queues. */
  readonly sinks: readonly SinkRow[] | undefined;
  /** By sink and name, those with the most work left first. */
  readonly jobs: readonly JobRow[];
  readonly journals: readonly JournalRow[];
  /** Oldest first. */
  readonly letters: readonly DeadLetter[];
  readonly unreadable: readonly UnreadableLetter[];
}

export interface SinkRow extends Pick<
  SinkStats,
  | 'name'
  | 'kind'
  | 'depth'
  | 'loaded'
  | 'oldestAtMs'
  | 'delayed'
  | 'nextRunAtMs'
  | 'waiting'
  | 'sent'
  | 'retried'
  | 'dead'
> {
  readonly dropped: number;
}

/** For a directory: only the jobs of this name that are in it, without the attempts of finished ones. */
export interface JobRow extends JobStats {
  readonly sink: string;
}

export interface JournalRow {
  readonly id: string;
  readonly owner: ListedJournal['owner'];
  readonly bytes: number;
  readonly waiting: number;
  /** Jobs that run later, and the wall clock of the next one. */
  readonly delayed: number;
  readonly nextRunAtMs: number | undefined;
  readonly sent: number;
  readonly damages: number;
}

export function isMeant({ record }: DeadLetter, which: Which): boolean {
  return 'id' in which
    ? record.id === which.id
    : record.job === which.job && record.sink === which.sink;
}

/** Page source for a journal directory: `redline-defer inspect --serve`. */
export function directorySource(directory: string, keys: KeyRing | undefined): PageSource {
  const box = new FileDeadLetters(join(directory, 'dead'), 0, keys);
  const chosen = async (which: Which): Promise<DeadLetter[]> =>
    (await lettersIn(box)).letters.filter((letter) => isMeant(letter, which));
  return {
    title: directory,
    async read() {
      const listing = await readDirectory(directory, keys);
      return {
        sinks: undefined,
        jobs: jobsByName(listing.jobs),
        journals: journalRows(listing),
        ...(await lettersIn(box)),
      };
    },
    async requeue(which) {
      const letters = await chosen(which);
      if (letters.length > 0) {
        await requeue(
          directory,
          letters.map(({ record }) => record),
          true,
          keys,
        );
      }
      return letters.length;
    },
    async remove(which) {
      let removed = 0;
      for (const { record } of await chosen(which)) if (await box.remove(record.id)) removed++;
      return removed;
    },
  };
}

export async function journalsIn(
  directory: string,
  keys: KeyRing | undefined,
): Promise<JournalRow[]> {
  return journalRows(await readDirectory(directory, keys));
}

function journalRows({ journals, jobs }: Listing): JournalRow[] {
  return journals.map(({ id, owner, bytes, damages }) => ({
    id,
    owner,
    bytes,
    waiting: countOf(jobs, id, 'waiting'),
    delayed: countOf(jobs, id, 'delayed'),
    nextRunAtMs: nextOf(jobs, id),
    sent: countOf(jobs, id, 'sent'),
    damages: damages.filter(({ kind }) => kind !== 'torn').length,
  }));
}

function nextOf(jobs: Listing['jobs'], id: string): number | undefined {
  let next: number | undefined;
  for (const { state, journal, record } of jobs) {
    if (state !== 'delayed' || journal !== id) continue;
    if (next === undefined || record.runAtMs! < next) next = record.runAtMs;
  }
  return next;
}

function countOf(jobs: Listing['jobs'], id: string, state: ListedState): number {
  return jobs.filter((job) => job.journal === id && job.state === state).length;
}

async function lettersIn(box: FileDeadLetters): Promise<ReadLetters> {
  try {
    return await box.read();
  } catch (error) {
    // Missing until the first job fails for good.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { letters: [], unreadable: [] };
    throw error;
  }
}
