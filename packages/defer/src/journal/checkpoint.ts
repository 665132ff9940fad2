import { crc32 } from 'node:zlib';
import type { KeptTries, Tries } from './marks.ts';
import { jobStates, type JobState, type Segment } from './segment.ts';
import { join } from 'node:path';
import { close, hasNothingToSync, isShortage, remove, type JournalFs } from './journal-fs.ts';

/** State of every job of a journal, so that marks in removed segments are not missed. */
export interface Checkpoint {
  /** Marks at or after this place of the log are not included yet. */
  readonly segment: number;
  readonly offset: number;
  /** Last lifetime of each sink's server that acknowledged something. */
  readonly generations: Readonly<Record<string, string>>;
  readonly segments: readonly CheckpointedSegment[];
  readonly tries?: KeptTries;
}

export interface CheckpointedSegment {
  readonly number: number;
  readonly firstJob: number;
  /** Run lengths: `state*count`, or `state` alone, in the order of the jobs. */
  readonly states: string;
}

/* One line of JSON after its checksum. */
export function encodeCheckpoint(checkpoint: Checkpoint): string {
  const json = JSON.stringify({ version: 1, ...checkpoint });
  return frame(json);
}

function frame(json: string): string {
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
}

/** Returns undefined if the text is not what was written. */
export function decodeCheckpoint(text: string): Checkpoint | undefined {
  const json = text.slice(9, -1);
  if (text !== frame(json)) return undefined;
  return JSON.parse(json);
}

export function encodeStates(segment: Segment): CheckpointedSegment {
  const runs: string[] = [];
  let state: JobState | undefined;
  let count = 0;
  const end = (): void => {
    if (count > 0) runs.push(count === 1 ? String(state) : `${state}*${count}`);
  };
  for (let at = 0; at < segment.length; at++) {
    const each = segment.stateOf(segment.firstJob + at);
    // A job in memory is only on disk as soon as the process is gone.
    const kept = each === jobStates.loaded ? jobStates.waiting : each;
    if (kept === state) {
      count++;
    } else {
      end();
      state = kept;
      count = 1;
    }
  }
  end();
  return { number: segment.number, firstJob: segment.firstJob, states: runs.join(' ') };
}

/** Yields the jobs that are sent or done; the others need no mark. */
export function* decodeStates({
  firstJob,
  states,
}: CheckpointedSegment): Generator<[job: number, state: JobState]> {
  let job = firstJob;
  for (const run of states.split(' ')) {
    const [state, count = 1] = run.split('*').map(Number);
    for (let left = count; left > 0; left--, job++) {
      if (state === jobStates.sent || state === jobStates.done) yield [job, state];
    }
  }
}

/**
 * Writes to a new file, syncs it, and renames it over the existing one: a whole checkpoint always exists. Returns false
 * if `mayReplace` refused meanwhile.
 */
export async function writeCheckpoint(
  fs: JournalFs,
  folder: string,
  checkpoint: Checkpoint,
  mayReplace: () => boolean,
): Promise<boolean> {
  const path = join(folder, 'checkpoint');
  remove(fs, `${path}.new`);
  const fd = fs.openSync(`${path}.new`, 'wx');
  try {
    const bytes = Buffer.from(encodeCheckpoint(checkpoint));
    for (let at = 0; at < bytes.length;) at += fs.writeSync(fd, bytes, at, bytes.length - at, at);
    await new Promise<void>((resolve, reject) => {
      fs.fdatasync(fd, (error) => (error ? reject(error) : resolve()));
    });
  } finally {
    fs.closeSync(fd);
  }
  if (!mayReplace()) return false;
  fs.renameSync(`${path}.new`, path);
  await syncFolder(fs, folder);
  return true;
}

async function syncFolder(fs: JournalFs, path: string): Promise<void> {
  let fd: number;
  try {
    fd = fs.openSync(path, 'r');
  } catch (error) {
    if (isShortage(error)) throw error;
    return;
  }
  try {
    await new Promise<void>((resolve, reject) => {
      fs.fdatasync(fd, (error) =>
        error === null || hasNothingToSync(error) ? resolve() : reject(error),
      );
    });
  } finally {
    close(fs, fd);
  }
}

const checkpointEveryMs = 1_000;

/** The part of the journal that the removal of segments uses. */
export interface SegmentCleanupHost {
  readonly settings: { readonly fs: JournalFs };
  readonly folder: string;
  readonly segments: Segment[];
  readonly openSegment: Segment | undefined;
  readonly generations: Record<string, string>;
  readonly tries: Tries;
  readonly hasUnwritten: boolean;
  readonly isReleased: boolean;
  flush(): void;
  pathOf(segment: Segment): string;
}

/** Removes segments whose jobs are all finished, and keeps their unique marks in a checkpoint. */
export class SegmentCleanup {
  readonly #journal: SegmentCleanupHost;
  readonly #failed: (error: unknown) => void;
  #checkpointing = false;
  /** True if the last checkpoint could not be written, which was reported: appending may still work. */
  #isFailing = false;
  #checkpointedAtMs = -Infinity;

  constructor(journal: SegmentCleanupHost, failed: (error: unknown) => void) {
    this.#journal = journal;
    this.#failed = failed;
  }

  /** Removes the oldest ones at once; those after a segment that is needed once a second, with a checkpoint. */
  removeFinished(now: number): void {
    if (this.#checkpointing) return;
    this.#removeOldest();
    if (now - this.#checkpointedAtMs < checkpointEveryMs) return;
    const { segments, openSegment } = this.#journal;
    const finished = segments.filter(
      (segment) => segment !== openSegment && segment.unfinished === 0,
    );
    if (finished.length === 0) return;
    // A loop that awaits each of its jobs has the next one in memory at every look.
    if (this.#journal.hasUnwritten) this.#journal.flush();
    if (this.#journal.hasUnwritten) return;
    this.#checkpointedAtMs = now;
    this.#checkpointing = true;
    void this.#tryCheckpoint(finished);
  }

  /*
   * A mark never precedes its job. So the oldest segments, as long as all of them are finished, have marks only for
   * each other, and can be removed without a checkpoint, even if the disk is too full for one.
   */
  #removeOldest(): void {
    const { segments, openSegment, settings } = this.#journal;
    for (;;) {
      const oldest = segments[0];
      if (oldest === undefined || oldest === openSegment || oldest.unfinished > 0) return;
      segments.shift();
      remove(settings.fs, this.#journal.pathOf(oldest));
    }
  }

  async #tryCheckpoint(finished: readonly Segment[]): Promise<void> {
    try {
      await this.#checkpoint(finished);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#failed(error);
      this.#isFailing = true;
    }
    this.#checkpointing = false;
  }

  /* Marks and their jobs are in different segments: before a segment is removed, its marks must be kept elsewhere. */
  async #checkpoint(finished: readonly Segment[]): Promise<void> {
    const journal = this.#journal;
    const { segments, settings } = journal;
    const kept = segments.filter((segment) => !finished.includes(segment));
    const last = segments.at(-1)!;
    const checkpoint: Checkpoint = {
      segment: last.number,
      offset: last.bytes,
      generations: journal.generations,
      tries: journal.tries.kept,
      segments: kept.filter(({ length }) => length > 0).map(encodeStates),
    };
    const isReleased = (): boolean => journal.isReleased;
    const isWritten = await writeCheckpoint(
      settings.fs,
      journal.folder,
      checkpoint,
      () => !isReleased(),
    );
    if (!isWritten || isReleased()) return;
    for (const segment of finished) {
      const at = segments.indexOf(segment);
      // The folder was removed meanwhile, and with it all segments of that time.
      if (at === -1) continue;
      segments.splice(at, 1);
      remove(settings.fs, journal.pathOf(segment));
    }
  }
}
