import { chownSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import { DeferError } from '../errors.ts';
import { FileDeadLetters } from '../journal/dead-letters.ts';
import { encodeJobRecord, type JobRecord } from '../journal/job-record.ts';
import { nodeFs, syncFolder } from '../journal/journal-fs.ts';
import { Journal } from '../journal/journal.ts';
import type { KeyRing } from '../seal/key-ring.ts';
import { freeOwner, makeJournalId, thisOwner } from '../journal/owner.ts';

/**
 * Gives jobs back to the app: writes a journal of its own and leaves it as an orphan, which a running process of the
 * app adopts within `adoptEveryMs`, or the next one at its start. Dead letters are removed once that is on disk. With
 * `keys` the journal is sealed with the current one.
 */
export async function requeue(
  directory: string,
  records: readonly JobRecord[],
  removeLetters: boolean,
  keys: KeyRing | undefined,
): Promise<void> {
  await keys?.renew();
  const owner = ownerToBe(directory);
  const id = makeJournalId(systemClock.wall());
  const folder = join(directory, `${id}~${thisOwner}`);
  nodeFs.mkdirSync(folder);
  let trouble: DeferError | undefined;
  const journal = new Journal(id, folder, {
    fs: nodeFs,
    clock: systemClock,
    segmentBytes: 16 << 20,
    replayWindowMs: 0,
    keys,
    trouble: (error) => {
      trouble = error;
    },
    recovered: () => {},
    removed: () => {},
    committed: () => {},
  });
  for (const record of records) {
    journal.append(record.sink, encodeJobRecord({ ...record, attempt: 1, onDuplicate: undefined }));
  }
  await journal.whenIdle();
  journal.release();
  const letters = new FileDeadLetters(join(directory, 'dead'), 0, keys);
  // A running app adopts it at once, and the first job may be dead again before the last letter is removed.
  if (removeLetters) for (const record of records) await letters.release(record.id);
  if (owner !== undefined) give(folder, owner);
  syncFolder(nodeFs, folder);
  nodeFs.renameSync(folder, join(directory, `${id}~${freeOwner}`));
  syncFolder(nodeFs, directory);
  if (trouble !== undefined) throw trouble;
  if (!removeLetters) return;
  for (const record of records) await letters.released(record.id);
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/* The app runs as another user, which could not take over a folder of this one. @throws {DeferError} ERR_REDLINE_DEFER_JOURNAL */
function ownerToBe(directory: string): Owner | undefined {
  const own = process.geteuid?.();
  // Created by the app itself, which the directory need not be.
  const { uid, gid } =
    statSync(join(directory, 'dead'), { throwIfNoEntry: false }) ?? statSync(directory);
  if (own === undefined || own === uid) return undefined;
  if (own === 0) return { uid, gid };
  throw new DeferError(
    'ERR_REDLINE_DEFER_JOURNAL',
    `${directory} belongs to user ${uid}, but this process runs as user ${own}: requeue as that user or as root. Nothing was requeued.`,
  );
}

function give(folder: string, { uid, gid }: Owner): void {
  for (const name of readdirSync(folder)) chownSync(join(folder, name), uid, gid);
  chownSync(folder, uid, gid);
}
