import { join } from 'node:path';
import { DeferError } from '../errors.ts';
import { decodeCheckpoint, decodeStates, type Checkpoint } from './checkpoint.ts';
import {
  claimedFrameBytes,
  isWholeButForLength,
  findFrame,
  frameHeaderBytes,
  frameKinds,
  journalVersions,
  readFrame,
  readSegmentVersion,
  segmentHeaderBytes,
  segmentSalt,
  type FrameSpan,
} from './frame.ts';
import type { KeyRing } from '../seal/key-ring.ts';
import { type JournalFs, readOwnFile } from './journal-fs.ts';
import { decodeJobRecord, type JobRecord } from './job-record.ts';
import { parseRanges, Tries, type TryMark } from './marks.ts';
import { withoutReserve } from './commit-target.ts';
import { isJob, jobTextIn, openSealing } from './sealed-frames.ts';
import { jobStates, Segment, segmentName, type JobState } from './segment.ts';

/** Damaged bytes, after which reading continued. */
export interface Damage {
  readonly file: string;
  readonly offset: number;
  readonly bytes: number;
  /**
   * `'torn'`: a partial frame and nothing after it, as after a crash in the middle of a write. `'missing'`: the file does
   * not exist or is empty. `'cut'`: jobs at its end are missing, though files after it exist. `'unreadable'`: the disk
   * cannot read it.
   */
  readonly kind: 'torn' | 'damaged' | 'header' | 'checkpoint' | 'missing' | 'cut' | 'unreadable';
  /** Jobs that are missing without a mark that they are done, or whose records cannot be opened; undefined if unknown. */
  readonly jobs?: number;
}

export interface RecoveredJournal {
  readonly segments: Segment[];
  readonly sinks: string[];
  readonly generations: Record<string, string>;
  readonly nextJob: number;
  readonly nextSegment: number;
  readonly tries: Tries;
  readonly damages: Damage[];
}

/** A journal as its folder was listed. */
export interface JournalFolder {
  readonly fs: JournalFs;
  readonly id: string;
  readonly folder: string;
  readonly names: readonly string[];
  /** Needed for sealed segments. */
  readonly keys?: KeyRing | undefined;
}

type Visit = (number: number, record: JobRecord) => void;

/**
 * Reads a journal after a crash. Never fails because of damaged bytes: they are in `damages`.
 * @throws {DeferError} ERR_REDLINE_DEFER_JOURNAL_VERSION
 * @throws {DeferError} ERR_REDLINE_DEFER_SEAL: a key is missing or wrong
 * @throws {DeferError} ERR_REDLINE_DEFER_JOURNAL: a file cannot be read at all
 */
export async function recoverJournal(
  journal: JournalFolder,
  now: number,
  visit?: Visit,
): Promise<RecoveredJournal> {
  const { folder, names } = journal;
  const damages: Damage[] = [];
  const checkpoint = await readCheckpoint(journal, damages);
  const recovery = new Recovery(checkpoint, damages, visit);
  for (const number of segmentNumbers(names)) {
    const segment = new Segment(number, segmentSalt(journal.id, number), now);
    segment.lastSentAtMs = now;
    const file = join(folder, nameOf(names, number));
    const bytes = await readOwnFile(journal.fs, file);
    if (bytes === undefined) {
      damages.push({ file, offset: 0, bytes: 0, kind: 'unreadable' });
      continue;
    }
    segment.sealing = await openSealing(bytes, segment, file, journal);
    recovery.take(segment, withoutReserve(bytes), file);
  }
  recovery.finish();
  const { segments, sinks, tries, generations, lastJob } = recovery;
  addMissing(recovery, checkpoint, damages, (number) => join(folder, segmentName(number)));
  return {
    segments,
    sinks,
    tries,
    generations,
    nextJob: lastJob + 1,
    nextSegment: Math.max(checkpoint?.segment ?? 0, ...segmentNumbers(names)) + 1,
    damages,
  };
}

/** Assembles a journal from its segments, in their order, and its checkpoint. */
class Recovery {
  readonly segments: Segment[] = [];
  readonly sinks: string[] = [];
  readonly generations: Record<string, string>;
  readonly tries: Tries;
  lastJob = 0;
  /** Jobs that have marks, but are in no segment. */
  readonly marked = new Set<number>();
  readonly #checkpoint: Checkpoint | undefined;
  readonly #damages: Damage[];
  readonly #visit: Visit | undefined;
  readonly #marks: { position: [segment: number, offset: number]; apply: () => void }[] = [];

  constructor(checkpoint: Checkpoint | undefined, damages: Damage[], visit: Visit | undefined) {
    this.#checkpoint = checkpoint;
    this.#damages = damages;
    this.#visit = visit;
    this.generations = { ...checkpoint?.generations };
    this.tries = new Tries(checkpoint?.tries);
  }

  take(segment: Segment, bytes: Buffer, file: string): void {
    segment.bytes = bytes.length;
    checkHeader(bytes, file, this.#damages);
    for (const frame of framesOf(bytes, file, segment.salt, this.#damages)) {
      if (isJob(frame)) {
        this.#addJob(segment, frame, jobTextIn(bytes, frame, segment, 0), file);
      } else if (frame.kind !== frameKinds.seal) {
        const payload = bytes.toString('utf8', frame.start + frameHeaderBytes, frame.end);
        const apply = this.#readMark(frame, payload);
        this.#marks.push({ position: [segment.number, frame.start], apply });
      }
    }
    this.segments.push(segment);
  }

  /** Called when all segments are taken: jobs get the states of the checkpoint, and those of marks that are newer. */
  finish(): void {
    const checkpoint = this.#checkpoint;
    if (checkpoint !== undefined) this.#applyCheckpoint(checkpoint);
    for (const { position, apply } of this.#marks) {
      const isKnown =
        checkpoint !== undefined &&
        (position[0] < checkpoint.segment ||
          (position[0] === checkpoint.segment && position[1] < checkpoint.offset));
      if (!isKnown) apply();
    }
  }

  #addJob(
    segment: Segment,
    { number, start, end }: FrameSpan,
    text: string | undefined,
    file: string,
  ): void {
    if (number <= this.lastJob) return;
    this.lastJob = number;
    const record = text === undefined ? undefined : recordOf(text);
    if (record === undefined) {
      addDamagedJob(this.#damages, { file, offset: start, bytes: end - start });
      return;
    }
    let sink = this.sinks.indexOf(record.sink);
    if (sink === -1) sink = this.sinks.push(record.sink) - 1;
    segment.add(number, sink, jobStates.waiting);
    this.#visit?.(number, record);
  }

  #applyCheckpoint(checkpoint: Checkpoint): void {
    // The process was killed before it could remove segments that the checkpoint no longer lists.
    const kept = new Set(checkpoint.segments.map(({ number }) => number));
    for (const segment of this.segments) {
      if (segment.number >= checkpoint.segment || kept.has(segment.number)) continue;
      segment.move(jobStates.waiting, jobStates.done, () => true);
    }
    for (const states of checkpoint.segments) {
      for (const [job, state] of decodeStates(states)) mark(this.segments, job, state);
      this.lastJob = Math.max(this.lastJob, states.firstJob);
    }
  }

  #readMark({ kind }: FrameSpan, payload: string): () => void {
    const { segments } = this;
    if (kind === frameKinds.done) return () => this.#markAll(payload, jobStates.done);
    if (kind === frameKinds.tried) {
      const tried = JSON.parse(payload) as { mark: TryMark; jobs: string };
      return () => {
        for (const [first, last] of parseRanges(tried.jobs)) {
          for (let job = first; job <= last; job++) this.tries.add(tried.mark, job);
        }
      };
    }
    const { sink, generation, jobs } = JSON.parse(payload) as {
      sink: string;
      generation?: string;
      jobs?: string;
    };
    if (kind === frameKinds.replayed) {
      return () => {
        const index = this.sinks.indexOf(sink);
        for (const segment of segments) {
          segment.move(jobStates.sent, jobStates.waiting, (_, of) => of === index);
        }
      };
    }
    return () => {
      if (generation !== undefined) this.generations[sink] = generation;
      this.#markAll(jobs ?? '', jobStates.sent);
    };
  }

  #markAll(ranges: string, state: JobState): void {
    for (const [first, last] of parseRanges(ranges)) {
      for (let job = first; job <= last; job++) {
        if (!mark(this.segments, job, state)) this.marked.add(job);
      }
    }
  }
}

/* Returns undefined if a whole frame is not a record: one job must not stop the others of its journal. */
function recordOf(text: string): JobRecord | undefined {
  try {
    return decodeJobRecord(text);
  } catch {
    return undefined;
  }
}

/* Adjacent records are one damage: a sealed segment without its note would otherwise report each of its jobs. */
function addDamagedJob(
  damages: Damage[],
  { file, offset, bytes }: Pick<Damage, 'file' | 'offset' | 'bytes'>,
): void {
  const last = damages.at(-1);
  const isNext = last?.file === file && last.jobs !== undefined;
  if (!isNext || last.offset + last.bytes !== offset) {
    damages.push({ file, offset, bytes, kind: 'damaged', jobs: 1 });
    return;
  }
  damages[damages.length - 1] = { ...last, bytes: last.bytes + bytes, jobs: last.jobs + 1 };
}

/** Checks the version in the header of a segment. */
export function checkVersion(bytes: Buffer, file: string): void {
  const version = readSegmentVersion(bytes);
  if (version === undefined || version <= journalVersions.sealed) return;
  throw new DeferError(
    'ERR_REDLINE_DEFER_JOURNAL_VERSION',
    `${file} has the format ${version}, but this package reads formats up to ${journalVersions.sealed}: update @redline/defer, or move the folder away. Nothing in it was changed.`,
  );
}

/*
 * The numbers of jobs have gaps only if a file or its end is missing, or if the jobs could not be written or are done; marks
 * record both.
 */
function addMissing(
  { segments, marked }: Recovery,
  checkpoint: Checkpoint | undefined,
  damages: Damage[],
  pathOf: (number: number) => string,
): void {
  const mayBeGone = (number: number): boolean =>
    checkpoint !== undefined &&
    number <= checkpoint.segment &&
    !checkpoint.segments.some((kept) => kept.number === number);
  const full = segments.filter(({ firstJob }) => firstJob >= 0);
  for (const [at, segment] of full.entries()) {
    const before = full[at - 1];
    if (before === undefined) continue;
    const first = before.firstJob + before.length;
    const jobs = countUnmarked(first, segment.firstJob, marked);
    if (jobs <= 0) continue;
    const between = Array.from(
      { length: segment.number - before.number - 1 },
      (_, index) => before.number + 1 + index,
    );
    const missing = between.find((number) => !mayBeGone(number));
    // Finished segments may have had them.
    if (missing === undefined && between.length > 0) continue;
    const file = pathOf(missing ?? before.number);
    const kind = missing === undefined ? 'cut' : 'missing';
    const known = damages.findIndex((damage) => damage.file === file && damage.kind !== 'header');
    if (known !== -1 && damages[known]!.kind === 'damaged') {
      damages[known] = { ...damages[known]!, jobs };
      continue;
    }
    if (known !== -1 && damages[known]!.kind !== 'torn') continue;
    // A file with others after it was not cut off by the exit of its process.
    const { offset, bytes } = damages[known] ?? { offset: before.bytes, bytes: 0 };
    if (known !== -1) damages.splice(known, 1);
    damages.push(
      kind === 'cut'
        ? { file, offset, bytes, kind, jobs }
        : { file, offset: 0, bytes: 0, kind, jobs },
    );
  }
}

function countUnmarked(first: number, end: number, marked: ReadonlySet<number>): number {
  let jobs = Math.max(0, end - first);
  for (const job of marked) if (job >= first && job < end) jobs--;
  return jobs;
}

export function segmentNumbers(names: readonly string[]): number[] {
  return names
    .filter((name) => /^\d+\.seg$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b);
}

/** Yields every whole frame; bytes between them go to `damages`. */
export function* framesOf(
  bytes: Buffer,
  file: string,
  salt: number,
  damages: Damage[],
): Generator<FrameSpan> {
  for (let at = segmentHeaderBytes; at < bytes.length;) {
    const frame = readFrame(bytes, at, salt);
    if (frame !== undefined) {
      yield frame;
      at = frame.end;
      continue;
    }
    const next = findFrame(bytes, at + 1, salt);
    const end = next?.start ?? bytes.length;
    const isTorn = next === undefined && isCutOff(bytes, at, salt);
    damages.push({ file, offset: at, bytes: end - at, kind: isTorn ? 'torn' : 'damaged' });
    at = end;
  }
}

/*
 * A killed process leaves the beginning of a frame, a power failure also zeros in its place. Anything else was whole,
 * and may have been acknowledged.
 */
function isCutOff(bytes: Buffer, at: number, salt: number): boolean {
  if (isWholeButForLength(bytes, at, salt)) return false;
  const length = claimedFrameBytes(bytes, at) ?? frameHeaderBytes;
  return at + length > bytes.length || bytes.at(-1) === 0;
}

function checkHeader(bytes: Buffer, file: string, damages: Damage[]): void {
  checkVersion(bytes, file);
  if (readSegmentVersion(bytes) !== undefined) return;
  const isTorn = bytes.length <= segmentHeaderBytes;
  damages.push({
    file,
    offset: 0,
    bytes: Math.min(bytes.length, segmentHeaderBytes),
    kind: isTorn ? 'torn' : 'header',
  });
}

async function readCheckpoint(
  { fs, folder, names }: JournalFolder,
  damages: Damage[],
): Promise<Checkpoint | undefined> {
  if (!names.includes('checkpoint')) return undefined;
  const file = join(folder, 'checkpoint');
  const bytes = await readOwnFile(fs, file);
  if (bytes === undefined) {
    // It only records what need not be done again.
    damages.push({ file, offset: 0, bytes: 0, kind: 'unreadable' });
    return undefined;
  }
  const checkpoint = decodeCheckpoint(bytes.toString());
  if (checkpoint === undefined) {
    damages.push({ file, offset: 0, bytes: bytes.length, kind: 'checkpoint' });
  }
  return checkpoint;
}

/** Returns false if no segment has the job. */
function mark(segments: readonly Segment[], job: number, state: JobState): boolean {
  const segment = segments.findLast(({ firstJob }) => firstJob >= 0 && firstJob <= job);
  if (segment === undefined) return false;
  const before = segment.stateOf(job);
  if (before === jobStates.waiting || (before === jobStates.sent && state === jobStates.done)) {
    segment.set(job, state);
  }
  return before !== jobStates.absent;
}

function nameOf(names: readonly string[], number: number): string {
  return names.find((name) => /^\d+\.seg$/.test(name) && Number.parseInt(name, 10) === number)!;
}
