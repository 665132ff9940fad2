import { join } from 'node:path';
import { jobsByName } from '../directory/jobs-by-name.ts';
import { readDirectory, type ListedState, type Listing } from '../directory/read-directory.ts';
import type { KeyRing } from '../seal/key-ring.ts';
import { requeue } from '../directory/requeue.ts';
import { FileDeadLetters, type DeadLetter, type ReadLetters } from '../journal/dead-letters.ts';
import { isMeant, type JournalRow, type PageSource, type Which } from './snapshot.ts';

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
