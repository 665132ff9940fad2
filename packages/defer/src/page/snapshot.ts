import type { ListedJournal } from '../inspect/read-directory.ts';
import type { DeadLetter } from '../journal/dead-letters.ts';

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
  readonly journals: readonly JournalRow[];
  /** Oldest first. */
  readonly letters: readonly DeadLetter[];
}

export interface SinkRow {
  readonly name: string;
  readonly kind: string;
  readonly isUnavailable: boolean;
  readonly depth: number;
  readonly loaded: number;
  readonly oldestAtMs: number | undefined;
  readonly sent: number;
  readonly retried: number;
  readonly dead: number;
  readonly dropped: number;
}

export interface JournalRow {
  readonly id: string;
  readonly owner: ListedJournal['owner'];
  readonly bytes: number;
  readonly waiting: number;
  readonly sent: number;
  readonly damages: number;
}

export function isMeant({ record }: DeadLetter, which: Which): boolean {
  return 'id' in which
    ? record.id === which.id
    : record.job === which.job && record.sink === which.sink;
}
