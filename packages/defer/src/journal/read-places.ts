import { DeferError } from '../errors.ts';
import { readFrame } from './frame.ts';
import { decodeJobRecord } from './job-record.ts';
import type { JobPlace } from './journal.ts';
import { readChunk, withTries, type ReadBackJob } from './read-back.ts';
import { isJob, jobTextIn } from './sealed-frames.ts';
import { jobStates, type Segment } from './segment.ts';

const maxBytes = 256 << 10;
/** Bytes read from the start of a job: most jobs are shorter. */
const shortBytes = 4 << 10;

export interface PlacesRead {
  /** In the order in which they are to run. */
  readonly jobs: readonly ReadBackJob[];
  /** Not reached: for lack of room, or because their write is pending. */
  readonly unread: readonly JobPlace[];
  /** In segments that are currently unreadable, which is the `trouble`. */
  readonly stuck: readonly JobPlace[];
  /** Number of jobs that can no longer be read; the `cause` is why. */
  readonly lost: number;
  readonly cause: unknown;
  readonly trouble: DeferError | undefined;
}

/** Reads jobs whose places are known, about `maxLength` characters of them; neighbours in one call. */
export async function readPlaces(
  places: readonly JobPlace[],
  maxLength: number,
): Promise<PlacesRead> {
  const sorted = places.toSorted(byPlace);
  const jobs: ReadBackJob[] = [];
  const unread: JobPlace[] = [];
  const stuck: JobPlace[] = [];
  let length = 0;
  let lost = 0;
  let cause: unknown;
  let trouble: DeferError | undefined;
  let chunk: { segment: Segment; from: number; bytes: Buffer } | undefined;
  for (const [at, place] of sorted.entries()) {
    const { journal, segment, offset } = place;
    if (segment === stuck.at(-1)?.segment) {
      stuck.push(place);
      continue;
    }
    if (length >= maxLength || offset >= segment.bytes) {
      unread.push(place);
      continue;
    }
    try {
      let text = chunk?.segment === segment && payloadAt(chunk.bytes, chunk.from, place);
      if (!text) {
        const bytes = await readChunk(journal, segment, offset, bytesFrom(sorted, at));
        chunk = { segment, from: offset, bytes };
        text = payloadAt(bytes, offset, place);
      }
      if (!text) throw damaged();
      const record = withTries(decodeJobRecord(text), place);
      jobs.push({ place, record });
      length += text.length;
    } catch (error) {
      if (isPassing(error)) {
        trouble = error as DeferError;
        stuck.push(place);
      } else {
        lost++;
        cause = error;
        segment.set(place.number, jobStates.absent);
      }
    }
  }
  jobs.sort(
    (a, b) => (a.record.runAtMs ?? 0) - (b.record.runAtMs ?? 0) || byPlace(a.place, b.place),
  );
  return { jobs, unread, stuck, lost, cause, trouble };
}

function byPlace(a: JobPlace, b: JobPlace): number {
  if (a.journal !== b.journal) return a.journal.id < b.journal.id ? -1 : 1;
  return a.number - b.number;
}

/* Returns the bytes up to the last job that one call reaches. */
function bytesFrom(sorted: readonly JobPlace[], at: number): number {
  const { segment, offset } = sorted[at]!;
  let end = offset;
  for (let next = at; next < sorted.length; next++) {
    const place = sorted[next]!;
    if (place.segment !== segment || place.offset - offset > maxBytes) break;
    end = place.offset;
  }
  return end - offset + shortBytes;
}

/* `from` is the offset of `bytes` in the segment. */
function payloadAt(
  bytes: Buffer,
  from: number,
  { segment, number, offset }: JobPlace,
): string | undefined {
  const start = offset - from;
  if (start < 0 || start >= bytes.length) return undefined;
  const frame = readFrame(bytes, start, segment.salt);
  if (frame === undefined || !isJob(frame) || frame.number !== number) return undefined;
  return jobTextIn(bytes, frame, segment, from);
}

function damaged(): DeferError {
  return new DeferError('ERR_REDLINE_DEFER_DAMAGED', 'Its bytes differ from what was written.');
}

/* A removed file does not come back. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof DeferError) || error.code !== 'ERR_REDLINE_DEFER_JOURNAL') return false;
  return (error.cause as NodeJS.ErrnoException).code !== 'ENOENT';
}
