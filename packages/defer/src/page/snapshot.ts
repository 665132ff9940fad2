import type { JobStats } from '../sink-queue/queue-counts.ts';
import type { SinkStats } from '../sink-queue/sink-stats.ts';
import type { ListedJournal } from '../directory/read-directory.ts';
import type { DeadLetter, UnreadableLetter } from '../journal/dead-letters.ts';

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
