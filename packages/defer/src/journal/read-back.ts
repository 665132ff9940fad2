import { DeferError } from '../errors.ts';
import {
  claimedFrameBytes,
  findCutOff,
  findFrame,
  readFrame,
  segmentHeaderBytes,
} from './frame.ts';
import { close } from './journal-fs.ts';
import type { JobPlace, Journal } from './journal.ts';
import { decodeJobRecord, type JobRecord } from './job-record.ts';
import { isJob, jobTextIn } from './sealed-frames.ts';
import { jobStates, type Segment } from './segment.ts';

const chunkBytes = 256 << 10;

export interface ReadBackJob {
  readonly place: JobPlace;
  readonly record: JobRecord;
}

/** The jobs read, or the unreadable segment, which the next pass skips. */
export interface ReadBackChunk {
  readonly jobs: readonly ReadBackJob[];
  readonly failed?: { readonly segment: Segment; readonly error: DeferError };
}

/** Reads one sink's waiting jobs back from one journal, oldest first, a bounded number at a time. */
export class ReadBack {
  readonly journal: Journal;
  readonly #sink: number;
  #segment = 0;
  #offset = segmentHeaderBytes;
  /** Unreadable segments, which nothing else waits for. */
  readonly #unreadable = new Set<Segment>();

  constructor(journal: Journal, sink: string) {
    this.journal = journal;
    this.#sink = journal.sinkIndex(sink);
  }

  /** Starts over at the oldest segment: jobs before the current reading position wait again. */
  rewind(): void {
    this.#segment = 0;
    this.#offset = segmentHeaderBytes;
  }

  /**
   * Reads up to `maxJobs` jobs and about `maxLength` characters. An empty result means that none is left up to the end of
   * the written part.
   */
  async read(maxJobs: number, maxLength: number): Promise<ReadBackChunk> {
    const jobs: ReadBackJob[] = [];
    let length = 0;
    for (;;) {
      const segment = this.#nextSegment();
      if (segment === undefined) return { jobs };
      let bytes: Buffer;
      try {
        bytes = await readChunk(this.journal, segment, this.#offset);
      } catch (error) {
        this.#unreadable.add(segment);
        return { jobs, failed: { segment, error: error as DeferError } };
      }
      if (bytes.length === 0) {
        // The end of the written part. Only the last segment grows.
        if (segment === this.journal.segments.at(-1)) return { jobs };
        this.#segment = segment.number + 1;
        this.#offset = segmentHeaderBytes;
        continue;
      }
      let at = 0;
      while (at < bytes.length) {
        const frame = readFrame(bytes, at, segment.salt) ?? findFrame(bytes, at, segment.salt);
        if (frame === undefined) {
          // The rest of the chunk is a partial frame, or damage.
          if (at === 0) at = findCutOff(bytes, 1, segment.bytes - this.#offset) ?? bytes.length;
          break;
        }
        at = frame.end;
        if (!isJob(frame)) continue;
        if (segment.stateOf(frame.number) !== jobStates.waiting) continue;
        if (segment.sinkOf(frame.number) !== this.#sink) continue;
        const text = jobTextIn(bytes, frame, segment, this.#offset);
        // Its bytes have changed since: it counts as missing at the end of the pass.
        if (text === undefined) continue;
        segment.set(frame.number, jobStates.loaded);
        const offset = this.#offset + frame.start;
        const place = { journal: this.journal, segment, number: frame.number, offset };
        jobs.push({ place, record: withTries(decodeJobRecord(text), place) });
        length += text.length;
        if (jobs.length >= maxJobs || length >= maxLength) {
          this.#offset += at;
          return { jobs };
        }
      }
      this.#offset += at;
    }
  }

  /** Gives up on waiting jobs that a whole pass has not found in the written part. */
  dropMissing(): void {
    for (const segment of this.journal.segments) {
      if (this.#unreadable.has(segment)) continue;
      segment.move(jobStates.waiting, jobStates.absent, (_, sink) => sink === this.#sink);
    }
  }

  /** Jobs that wait in unreadable segments. */
  get stuck(): number {
    let stuck = 0;
    for (const segment of this.#unreadable) {
      stuck += segment.countOf(jobStates.waiting, this.#sink);
    }
    return stuck;
  }

  /** Called when the segment is gone, and its waiting jobs are lost. Returns how many. */
  giveUp(segment: Segment): number {
    this.#unreadable.delete(segment);
    return segment.move(jobStates.waiting, jobStates.absent, (_, sink) => sink === this.#sink);
  }

  /** Starts over, and retries the unreadable segments. */
  retryUnreadable(): void {
    this.#unreadable.clear();
    this.rewind();
  }

  #nextSegment(): Segment | undefined {
    for (const segment of this.journal.segments) {
      if (segment.number < this.#segment) continue;
      if (segment.number > this.#segment) {
        this.#segment = segment.number;
        this.#offset = segmentHeaderBytes;
      }
      const isReadable = !this.#unreadable.has(segment);
      if (isReadable && segment.count(jobStates.waiting) > 0) return segment;
      if (segment === this.journal.segments.at(-1)) return undefined;
    }
    return undefined;
  }
}

export function withTries(record: JobRecord, { journal, number }: JobPlace): JobRecord {
  const failed = journal.tries.failed(number);
  return failed === 0 ? record : { ...record, attempt: record.attempt + failed };
}

/** Reads from `offset` on: the frame there as a whole, and up to `maxBytes`. @throws {DeferError} ERR_REDLINE_DEFER_JOURNAL */
export async function readChunk(
  journal: Journal,
  segment: Segment,
  offset: number,
  maxBytes: number = chunkBytes,
): Promise<Buffer> {
  const { fs } = journal.settings;
  const available = segment.bytes - offset;
  if (available <= 0) return Buffer.alloc(0);
  const path = journal.pathOf(segment);
  let fd: number | undefined;
  try {
    fd = fs.openSync(path, 'r');
    let bytes = Buffer.allocUnsafeSlow(Math.min(available, maxBytes));
    let length = await fs.read(fd, bytes, 0, bytes.length, offset);
    const claimed = claimedFrameBytes(bytes.subarray(0, length), 0) ?? 0;
    if (claimed > length && claimed <= available) {
      bytes = Buffer.allocUnsafeSlow(claimed);
      length = await fs.read(fd, bytes, 0, claimed, offset);
    }
    return bytes.subarray(0, length);
  } catch (cause) {
    const reason = (cause as Error).message;
    const sentence = `The segment ${path} cannot be read back: ${reason}.`;
    throw new DeferError('ERR_REDLINE_DEFER_JOURNAL', sentence, { cause });
  } finally {
    if (fd !== undefined) close(fs, fd);
  }
}
