import { copyFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { withoutData, type KeyedRecord, type JobRecord } from './job-record.ts';
import {
  recoverJournal,
  type Damage,
  type JournalFolder,
  type RecoveredJournal,
} from './recover.ts';
import { otherNames } from '../job/job-counts.ts';
import { jobStates, type Segment } from './segment.ts';
import { DeferError } from '../errors.ts';
import type { DeferLogger } from '../logger.ts';

export interface FoundJournal extends RecoveredJournal {
  readonly kinds: readonly KindCount[];
  /** Jobs that were deferred with `onDuplicate`. */
  readonly keyed: readonly KeyedRecord[];
}

/** Recovers an adopted journal, and puts its damaged files aside in `directory`. Calls `damaged` for each damage. */
export async function recoverFolder(
  journal: JournalFolder,
  directory: string,
  now: number,
  damaged: (damage: Damage) => void,
): Promise<FoundJournal> {
  const { fs, id } = journal;
  const kinds = new Kinds();
  const keyed: KeyedRecord[] = [];
  const found = await recoverJournal(journal, now, (number, record) => {
    kinds.see(record);
    if (record.onDuplicate !== undefined) keyed.push({ number, record: withoutData(record) });
  });
  for (const damage of found.damages) {
    damaged(damage);
    const { file, kind } = damage;
    // Damaged data is kept for inspection: the segment itself is deleted when its jobs are done.
    if (kind === 'damaged' || kind === 'header' || kind === 'cut') {
      await keepDamaged(file, directory, id);
    } else if (kind === 'unreadable') {
      // It would prevent removing the folder. Its name shows where it belongs, if it becomes readable again.
      fs.renameSync(file, join(directory, damagedName(file, id)));
    }
  }
  return { ...found, kinds: kinds.waiting(found.segments), keyed };
}

function damagedName(file: string, id: string): string {
  return `damaged-${id}-${basename(file)}`;
}

async function keepDamaged(file: string, directory: string, id: string): Promise<void> {
  try {
    await copyFile(file, join(directory, damagedName(file, id)));
  } catch {
    // No room for it; the damage itself was reported.
  }
}

/** Jobs of one name for one sink. */
export interface KindCount {
  readonly sink: string;
  readonly job: string;
  jobs: number;
  oldestAtMs: number;
}

/** More than any sink counts. */
const maxKinds = 1_000;

/** Assigns the jobs of a journal that is being read to kinds: ten bytes a job, as a journal may hold millions. */
export class Kinds {
  readonly #kinds: KindCount[] = [];
  readonly #indexes = new Map<string, number>();
  #kindOf = new Uint16Array(1_024);
  #atMs = new Float64Array(1_024);
  #length = 0;

  see({ sink, job, deferredAtMs }: JobRecord): void {
    if (this.#length === this.#kindOf.length) this.#grow();
    this.#kindOf[this.#length] = this.#indexOf(sink, job);
    this.#atMs[this.#length++] = deferredAtMs;
  }

  /** Returns the waiting jobs of the segments that the jobs were read from. */
  waiting(segments: readonly Segment[]): KindCount[] {
    let seen = 0;
    for (const segment of segments) {
      for (let at = 0; at < segment.length; at++) {
        const state = segment.stateOf(segment.firstJob + at);
        if (state === jobStates.absent) continue;
        if (state === jobStates.waiting) {
          const kind = this.#kinds[this.#kindOf[seen]!]!;
          kind.jobs++;
          kind.oldestAtMs = Math.min(kind.oldestAtMs, this.#atMs[seen]!);
        }
        seen++;
      }
    }
    return this.#kinds.filter(({ jobs }) => jobs > 0);
  }

  #indexOf(sink: string, job: string): number {
    const known = this.#indexes.get(`${sink}\n${job}`);
    if (known !== undefined) return known;
    if (this.#kinds.length >= maxKinds && job !== otherNames) {
      return this.#indexOf(sink, otherNames);
    }
    const index = this.#kinds.push({ sink, job, jobs: 0, oldestAtMs: Infinity }) - 1;
    this.#indexes.set(`${sink}\n${job}`, index);
    return index;
  }

  #grow(): void {
    const kindOf = new Uint16Array(this.#length * 2);
    const atMs = new Float64Array(this.#length * 2);
    kindOf.set(this.#kindOf);
    atMs.set(this.#atMs);
    this.#kindOf = kindOf;
    this.#atMs = atMs;
  }
}

/** Logs what recovery found: a torn end as information, because it is normal, anything else as a warning. */
export function reportDamage(
  { file, offset, bytes, kind, jobs }: Damage,
  logger: DeferLogger,
): void {
  if (kind === 'torn') {
    logger.log(
      `defer: ${file} ends with ${bytes} bytes of a write that a crash interrupted; none of it was acknowledged.`,
    );
    return;
  }
  if (kind === 'cut') {
    const message = `${file} ends at ${offset + bytes}, and ${jobs} jobs behind that are missing: they are lost. Everything else is read, and the file is kept as damaged-*.`;
    logger.warn(`defer: ${message}`, new DeferError('ERR_REDLINE_DEFER_DAMAGED', message));
    return;
  }
  if (kind === 'missing' || kind === 'unreadable') {
    const message =
      kind === 'missing'
        ? `${file} is missing or empty, with up to ${jobs} jobs; all others are read.`
        : `${file} cannot be read; it is kept as damaged-*, and everything else is read.`;
    logger.warn(`defer: ${message}`, new DeferError('ERR_REDLINE_DEFER_DAMAGED', message));
    return;
  }
  const sentence = {
    damaged: 'the jobs in them are lost; the rest is read, and the file is kept as damaged-*',
    header: 'its jobs are still read, and the file is kept as damaged-*',
    checkpoint: 'it is ignored, and some jobs may be sent twice',
  }[kind];
  const count = jobs === undefined ? '' : `, with up to ${jobs} jobs`;
  const message = `${file} has ${bytes} damaged bytes at ${offset}${count}; ${sentence}.`;
  logger.warn(`defer: ${message}`, new DeferError('ERR_REDLINE_DEFER_DAMAGED', message));
}
