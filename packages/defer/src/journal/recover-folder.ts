import { copyFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { withoutData, type KeyedRecord } from './job-record.ts';
import { Kinds, type KindCount } from './kinds.ts';
import {
  recoverJournal,
  type Damage,
  type JournalFolder,
  type RecoveredJournal,
} from './recover.ts';

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
