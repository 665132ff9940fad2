import { encodeStates, type Checkpoint } from './checkpoint.ts';
import { remove, type JournalFs } from './journal-fs.ts';
import type { Segment } from './segment.ts';
import type { Tries } from './tries.ts';
import { writeCheckpoint } from './write-checkpoint.ts';

const checkpointEveryMs = 1_000;

/** The part of the journal that the removal of segments uses. */
export interface SegmentCleanupHost {
  readonly settings: { readonly fs: JournalFs };
  readonly folder: string;
  /** In the order in which they were begun. */
  readonly segments: Segment[];
  readonly openSegment: Segment | undefined;
  readonly generations: Record<string, string>;
  readonly tries: Tries;
  readonly hasUnwritten: boolean;
  readonly isReleased: boolean;
  /** Writes what is in memory. */
  flush(): void;
  pathOf(segment: Segment): string;
}

/** Removes segments that are no longer needed, and keeps their unique marks in a checkpoint. */
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
