import type { JobStats } from '../lane/job-stats.ts';
import type { SinkStats } from '../lane/sink-stats.ts';
import type { ListedJournal } from '../directory/read-directory.ts';
import type { DeadLetter, UnreadableLetter } from '../journal/dead-letters.ts';

/** What a page shows, and can do. */
export interface PageSource {
  /** Shown at the top: where this comes from. */
  readonly title: string;
  read(): Promise<Snapshot>;
  /** Gives dead letters back to the app. Returns how many there were. */
  requeue(which: Which): Promise<number>;
  /** Deletes dead letters for good. Returns how many there were. */
  remove(which: Which): Promise<number>;
}

/** One letter, or all of one kind of job. */
export type Which = { readonly id: string } | { readonly job: string; readonly sink: string };

export interface Snapshot {
  /** Undefined where no process is asked: a directory knows no lanes. */
  readonly sinks: readonly SinkRow[] | undefined;
  /** By sink and name, those with most to do first. */
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

/** Of a directory: what it has of jobs of this name, and no tries of those that are done. */
export interface JobRow extends JobStats {
  readonly sink: string;
}

export interface JournalRow {
  readonly id: string;
  readonly owner: ListedJournal['owner'];
  readonly bytes: number;
  readonly waiting: number;
  /** Those that are to run later, and the wall clock of the next of them. */
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
